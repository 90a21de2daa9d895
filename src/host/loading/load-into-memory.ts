import type { LoadedRunner } from "../../backends/backend.ts";
import { byteSize } from "../../protocol/byte-size.ts";
import type { ResolvedEngineConfig, WeightsDtype } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";

export interface LoadedRunners {
  readonly runner: LoadedRunner;
  /** A small model that drafts, and the most tokens of a sequence in it. [none] */
  readonly draft?: { readonly runner: LoadedRunner; readonly maxLength: number } | null;
}

export interface LoadedIntoMemory extends LoadedRunners {
  readonly engineConfig: ResolvedEngineConfig;
}

/**
 * Loads with the largest cache that there is memory for: half of it at a time is left out, down to one full context. WebGPU
 * doesn't tell how much memory there is.
 * @param weightBytes of the weights in each dtype that they can have, for the refusal
 * @throws ChorusError out_of_memory, saying what would take less; any other error of `load`
 */
export async function loadIntoMemory(
  requested: ResolvedEngineConfig,
  load: (engineConfig: ResolvedEngineConfig) => Promise<LoadedRunners>,
  weightBytes: () => ReadonlyMap<WeightsDtype, number>,
): Promise<LoadedIntoMemory> {
  const leastBlocks = Math.ceil(requested.maxModelLen / requested.blockSize);
  for (let engineConfig = requested; ;) {
    try {
      return { ...(await load(engineConfig)), engineConfig };
    } catch (error) {
      if (!(error instanceof ChorusError) || error.code !== "out_of_memory") throw error;
      const { numGpuBlocks } = engineConfig;
      if (numGpuBlocks <= leastBlocks) throw refusal(engineConfig, error, weightBytes());
      engineConfig = Object.freeze({
        ...requested,
        numGpuBlocks: Math.max(leastBlocks, Math.floor(numGpuBlocks / 2)),
      });
    }
  }
}

function refusal(
  { dtype, numGpuBlocks }: ResolvedEngineConfig,
  cause: ChorusError,
  weightBytes: ReadonlyMap<WeightsDtype, number>,
): ChorusError {
  const own = weightBytes.get(dtype) ?? 0;
  const smaller = [...weightBytes]
    .filter(([, bytes]) => bytes < own)
    .map(([other, bytes]) => `${byteSize(bytes)} as ${other}`);
  const advice = [
    `The weights take ${byteSize(own)} as ${dtype}${smaller.length > 0 ? `, ${smaller.join(", ")}` : ""}.`,
    "A shorter maxModelLen allows a smaller cache.",
  ].join(" ");
  const message = `${cause.message} A cache of ${numGpuBlocks} blocks, the least that was tried, is too much, too. ${advice}`;
  return new ChorusError("out_of_memory", message, cause.param ?? "dtype", { cause });
}
