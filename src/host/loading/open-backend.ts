import { BackendMissing, type OpenedBackend } from "../../backends/backend.ts";
import type { Trials } from "../../backends/trials.ts";
import type { BackendChoice, BackendName } from "../../protocol/config.ts";
import { ChorusError, toChorusError } from "../../protocol/errors.ts";
import { VERSION } from "../../version.ts";
import type { OfferedBackend, Platform } from "../platforms/platform.ts";
import { withStallTimeout } from "../../protocol/with-stall-timeout.ts";

/** A browser that opens no device for this long never does. */
const MAX_OPENING_MS = 15_000;
/** The same for "auto" in a browser that never did before. */
const MAX_OPENING_AGAIN_MS = 2000;

export interface ChosenBackend {
  readonly opened: OpenedBackend;
  /** Why a backend before this one is not used; null if nothing is wrong with those. */
  readonly notice: string | null;
  /** Whether its adapter was given up at an earlier start. */
  readonly hasFailedBefore: boolean;
}

/**
 * Opens the backend that is asked for; for "auto" the first that computes by itself and was not given up before: a GPU that the
 * CPU plays is slower than the CPU.
 * @throws what the backend that was asked for threw, or for "auto" the last one
 */
export async function openBackend(
  backends: readonly OfferedBackend[],
  choice: BackendChoice,
  platform: Memory,
  trials?: Trials,
): Promise<ChosenBackend> {
  let reason: unknown = new ChorusError("internal_error", `This platform has no ${choice} backend.`);
  let notice: string | null = null;
  let second: ChosenBackend | null = null;
  for (const backend of backends) {
    if (choice !== "auto" && backend.name !== choice) continue;
    try {
      const opened = await open(backend, choice, platform, trials);
      const known = await reasonGivenUp(platform, opened.adapterName);
      const found = { opened, notice, hasFailedBefore: known !== null };
      if (choice !== "auto" || (!opened.isSoftware && known === null)) {
        second?.opened.close();
        return found;
      }
      if (known !== null) notice ??= `${known} ${ADVICE}`;
      second?.opened.close();
      second = found;
    } catch (error) {
      reason = error;
      if (!(error instanceof BackendMissing)) notice ??= toChorusError(error).message;
    }
  }
  // Better than nothing: there is no SIMD, for one.
  if (second) return second;
  throw reason;
}

const ADVICE =
  'It is not tried again until the browser or this library is updated, or somebody chooses the backend "webgpu".';

async function open(
  offered: OfferedBackend,
  choice: BackendChoice,
  platform: Memory,
  trials?: Trials,
): Promise<OpenedBackend> {
  const { name } = offered;
  const backend = await offered.load();
  const hasFailedBefore = (await reasonGivenUp(platform, name)) !== null;
  const opened = await withStallTimeout(() => backend.open(trials), {
    limitMs: hasFailedBefore && choice === "auto" ? MAX_OPENING_AGAIN_MS : MAX_OPENING_MS,
    error: () => {
      const error = neverOpened(name);
      void rememberGivenUp(platform, name, error.message);
      return error;
    },
    discard: (late) => late.close(),
  });
  if (hasFailedBefore) void rememberGivenUp(platform, name, null);
  return opened;
}

function neverOpened(backend: BackendName): ChorusError {
  const seconds = MAX_OPENING_MS / 1000;
  if (backend === "cpu")
    return new ChorusError("wasm_unavailable", `The CPU backend did not start within ${seconds} seconds.`);
  return new ChorusError("webgpu_unavailable", `The browser opened no graphics adapter within ${seconds} seconds.`);
}

type Memory = Pick<Platform, "tuning" | "runtime">;

/** Why an adapter was given up is remembered for one version of the browser and of this library. */
const keyOf = ({ runtime }: Memory, adapterName: string) => ["given up", adapterName, runtime, VERSION].join(", ");

/** Returns null if it wasn't, or if nothing can be remembered here. */
async function reasonGivenUp(platform: Memory, adapterName: string): Promise<string | null> {
  const [reason] = (await platform.tuning.load(keyOf(platform, adapterName)).catch(() => undefined)) ?? [];
  return reason ?? null;
}

/** @param reason null: it works */
export async function rememberGivenUp(platform: Memory, adapterName: string, reason: string | null): Promise<void> {
  await platform.tuning.save(keyOf(platform, adapterName), reason === null ? [] : [reason]).catch(() => undefined);
}
