// Checks that run in a page that has imported the built library. Results are plain data: a test outside of the
// page judges them.

import { openDevice } from "../../src/backends/gpu/device.ts";
import { KernelCompiler } from "../../src/backends/gpu/kernel.ts";
import type { Kernel } from "../../src/backends/gpu/define-kernel.ts";
import * as kernels from "../../src/backends/gpu/kernels/kernels.ts";
import type { createEngine, EngineConfig } from "../../src/index.ts";
import { specialise } from "../../src/backends/gpu/specialise.ts";
import { describeModel } from "../../src/models/families.ts";
import { createComplete } from "./create-complete.ts";
import { answersAlone, answersUnder, FEW_AT_ONCE, WITH_EVERY_RULE } from "./exactness.ts";
import { checkpointFiles, goldenAnswers, type GoldenAnswer } from "../models/golden-answers.ts";
import { loadGolden } from "../models/golden.ts";
import { PORTABLE, PORTABLE_REQUEST, portableAnswers } from "./portable-request.ts";
import { shareDevice, type SharedDevice } from "../gpu/shared-device.ts";
import { skipTuning } from "../gpu/skip-tuning.ts";
import { tampered } from "../gpu/tampered-gpu.ts";

type CreateEngine = typeof createEngine;
type Dtypes = Pick<EngineConfig, "dtype" | "activationDtype" | "kvCacheDtype">;

const TINY = "/tests/fixtures/gpt2-tiny/";
/** Positions turn, and norms are added to the residual. */
const GEMMA = "/tests/fixtures/gemma3-tiny/";
/** A context long enough for attention in splits. */
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
  // Before the engine is disposed of.
  return await goldenAnswers(engine, golden);
}

interface ExactnessFound {
  readonly alone: readonly unknown[];
  readonly rounds: readonly unknown[][];
  readonly hasHappened: boolean;
}

export async function exactnessIn(create: CreateEngine, dtypes: Dtypes): Promise<ExactnessFound> {
  const { gpu } = await sharedDevice();
  const options = { backend: "webgpu", model: TINY, worker: false, gpu, ...dtypes } as const;
  // At once: waiting for results is most of what a step takes in Firefox.
  const [alone, { rounds, hasHappened }] = await Promise.all([
    answersAlone(create, options, WITH_EVERY_RULE),
    answersUnder(create, options, FEW_AT_ONCE, 1, WITH_EVERY_RULE),
  ]);
  return { alone, rounds, hasHappened };
}

/** Returns the embedded model's answer on the CPU, which has the same bits in every browser. @param file of PORTABLE */
export async function portableAnswersOf(create: CreateEngine, file: string): Promise<string> {
  await using engine = await create({ model: CHAT, ...PORTABLE[file] });
  return await portableAnswers(engine, PORTABLE_REQUEST);
}

interface CompiledFound {
  /** Labels of what was compiled: a kernel and its constants each. */
  readonly pipelines: readonly string[];
  readonly hasSubgroups: boolean;
  /** How many of these texts have loops that are written out for GPUs, and what the compiler finds wrong with them. */
  readonly numWritten: number;
  readonly problems: readonly string[];
}

/** Opens an engine in each dtype with the kernels of software adapters, and with those of GPUs. */
export async function compileAll(create: CreateEngine): Promise<CompiledFound> {
  const adapter = await navigator.gpu.requestAdapter();
  const hasSubgroups = adapter?.features.has("subgroups") ?? false;
  const software = await sharedDevice();
  const hardware = await shareDevice(tampered({ pretendHardware: true }));
  for (const dtype of ["f32", "f16", "q8", "q4"] as const) {
    await (await createComplete(create, { model: TINY, gpu: software.gpu, dtype })).dispose();
  }
  const integers = { dtype: "q8", activationDtype: "int8" } as const;
  await (await createComplete(create, { model: GEMMA, gpu: software.gpu, ...integers })).dispose();
  await (await createComplete(create, { model: GEMMA, gpu: software.gpu })).dispose();
  await skipTuning(describeModel(await (await fetch(`${CHAT}config.json`)).json()), "f16", hasSubgroups);
  await (await createComplete(create, { model: CHAT, gpu: hardware.gpu, dtype: "f16" })).dispose();
  const known = new Set([...software.compiled(), ...hardware.compiled()].map((label) => label.split(" ")[0]));
  await compileRest(hardware.gpu, (kernel) => known.has(kernel.name) || (!hasSubgroups && needsSubgroups(kernel)));
  const pipelines = [...software.compiled(), ...hardware.compiled()];

  const written = await checkWrittenLoops(hardware.gpu, pipelines);
  hardware.destroy();
  return { pipelines, hasSubgroups, ...written };
}

/** Gives the compiler what GPUs in Firefox get. It reads and checks texts; drivers, which would take long, see none. */
async function checkWrittenLoops(
  gpu: GPU,
  pipelines: readonly string[],
): Promise<Pick<CompiledFound, "numWritten" | "problems">> {
  const opened = await openDevice(gpu);
  const texts = new Map<string, string>();
  for (const label of pipelines) {
    const [, name, constants = "{}"] = /^(\S+) (\{.*?\})/.exec(label) ?? [];
    const kernel = Object.values(kernels).find((one) => one.name === name);
    if (!kernel) throw new Error(`There is no kernel of the pipeline ${label.split("\n")[0]}.`);
    const values: Record<string, number> = JSON.parse(constants);
    const code = specialise(kernel, values, true);
    if (code !== specialise(kernel, values)) texts.set(code, `${name} ${constants}`);
  }
  const problems = [];
  for (const [code, label] of texts) {
    opened.device.pushErrorScope("validation");
    const { messages } = await opened.device.createShaderModule({ label, code }).getCompilationInfo();
    const error = await opened.device.popErrorScope();
    if (error ?? messages.length > 0) {
      problems.push(
        [label, error?.message, ...messages.map(({ lineNum, message }) => `${lineNum}: ${message}`)].join("\n"),
      );
    }
  }
  return { numWritten: texts.size, problems };
}

/** Kernels that no engine had a use for here, such as those beside a kernel with subgroups: any constants will do. */
async function compileRest(gpu: GPU, isToSkip: (kernel: Kernel) => boolean): Promise<void> {
  const compiler = new KernelCompiler((await openDevice(gpu)).device);
  const anyOf = { u32: 64, f32: 1, bool: false };
  for (const kernel of Object.values(kernels)) {
    if (isToSkip(kernel)) continue;
    const overrides = kernel.code.matchAll(/^override (\w+): (u32|f32|bool);/gm);
    const constants = Object.fromEntries(
      Array.from(overrides, ([, name = "", type]) => [name, anyOf[type as keyof typeof anyOf]]),
    );
    await compiler.compile({ kernel, constants });
  }
}

const needsSubgroups = ({ code }: Kernel) => code.includes("enable subgroups;");
