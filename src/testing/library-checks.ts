// What a page that has imported the built library can be asked to find out. Results are plain data: a test outside of the
// page judges them.

import type { createEngine, EngineConfig } from "../index.ts";
import { answersAlone, answersUnder, CIRCUMSTANCES } from "./exactness.ts";
import { checkpointFiles, goldenAnswers, type GoldenAnswer } from "./golden-answers.ts";
import { loadGolden } from "./golden.ts";
import { shareDevice, type SharedDevice } from "./shared-device.ts";
import { tampered } from "./tampered-gpu.ts";

type CreateEngine = typeof createEngine;
type Dtypes = Required<Pick<EngineConfig, "dtype" | "kvCacheDtype">>;

const TINY = "/fixtures/gpt2-tiny/";
/** Long enough a context for attention in splits. */
const CHAT = "/models/chorus-chat/";

/** Checks of one page have one device, so that each kernel is compiled once. */
let device: Promise<SharedDevice> | undefined;
const sharedDevice = () => (device ??= shareDevice());

export async function goldenOf(create: CreateEngine, checkpoint: string): Promise<GoldenAnswer[]> {
  const [golden, model, { gpu }] = await Promise.all([
    loadGolden("gpt2-tiny"),
    checkpointFiles(checkpoint),
    sharedDevice(),
  ]);
  await using engine = await create({ model, worker: false, gpu, dtype: "f32", kvCacheDtype: "f32" });
  return goldenAnswers(engine, golden);
}

export interface ExactnessFound {
  readonly alone: readonly unknown[];
  readonly circumstances: readonly { name: string; hasHappened: boolean; rounds: readonly unknown[][] }[];
}

export async function exactnessIn(create: CreateEngine, dtypes: Dtypes): Promise<ExactnessFound> {
  const { gpu } = await sharedDevice();
  const options = { model: TINY, worker: false, gpu, ...dtypes };
  const alone = await answersAlone(create, options);
  const circumstances = [];
  for (const circumstance of CIRCUMSTANCES) {
    const { rounds, hasHappened } = await answersUnder(create, options, circumstance, 1);
    circumstances.push({ name: circumstance.name, hasHappened, rounds });
  }
  return { alone, circumstances };
}

export interface CompiledFound {
  /** Labels of what was compiled: a kernel and its constants each. */
  readonly pipelines: readonly string[];
  readonly hasSubgroups: boolean;
}

/** Opens an engine in each dtype with the kernels of software adapters, and with those of GPUs. */
export async function compileAll(create: CreateEngine): Promise<CompiledFound> {
  const software = await sharedDevice();
  const hardware = await shareDevice(tampered({ pretendHardware: true }));
  for (const dtype of ["f32", "f16", "q8", "q4"] as const) {
    await (await create({ model: TINY, worker: false, gpu: software.gpu, dtype })).dispose();
  }
  for (const [model, dtype] of [
    [TINY, "q4"],
    [CHAT, "f16"],
  ] as const) {
    await (await create({ model, worker: false, gpu: hardware.gpu, dtype })).dispose();
  }
  hardware.destroy();
  const adapter = await navigator.gpu.requestAdapter();
  return {
    pipelines: [...software.compiled(), ...hardware.compiled()],
    hasSubgroups: adapter?.features.has("subgroups") ?? false,
  };
}
