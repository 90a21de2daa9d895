import type { EngineDescription, Way } from "./engine-page.ts";
import type { GgufType } from "./gguf.ts";
import { QUANTISATIONS, type Quantisation } from "./quantise.ts";

export interface Contender {
  readonly name: string;
  /** Where it computes, and the formats of its weights and cache. */
  readonly how: string;
  readonly page: EngineDescription;
  readonly loads: readonly Load[];
  /** `how` of the Chorus that its figures are compared with. */
  readonly against: string;
}

export interface Load {
  readonly way: Way;
  readonly sequences: number;
  /** Tokens of each prompt. [PROMPT_TOKENS] */
  readonly promptTokens?: number;
  readonly newTokens: number;
}

export type Place = "gpu" | "cpu";

export const PROMPT_TOKENS = 32;

/** Prompts whose first token is timed on the CPU, with a few tokens after it. */
const LONG_PROMPTS = [128, 512] as const;
const TOKENS_AFTER_LONG_PROMPT = 4;
/** Threads of each engine on the CPU, and prompts at once. */
const CPU_THREADS = [1, 2] as const;
const CPU_SEQUENCES = [1, 4, 8, 16] as const;

interface Race {
  readonly place: Place;
  /** Tokens of an answer: all have as many, since whole requests are compared. */
  readonly newTokens: number;
  /** Whether wllama can't read the model in f32. */
  readonly isLarge: boolean;
  readonly maxPositions: number;
  /** How the file that Chorus and wllama read is packed; transformers.js gets the same values. [floats, by each engine's own format] */
  readonly gguf: Quantisation | undefined;
}

/** Returns the engines. The first computes in f32 without rounding in between: the others' tokens are compared with its tokens. */
export function listContenders(race: Race): Contender[] {
  return race.place === "gpu" ? onTheGpu(race) : onTheCpu(race);
}

const F32 = { dtype: "f32", kvCacheDtype: "f32" } as const;

function enginesOf(gguf: Quantisation | undefined) {
  const dtype = gguf ? QUANTISATIONS[gguf].onnx : "fp32";
  type Call = readonly [how: string, against: string, config: object, loads: readonly Load[]];
  return {
    /** transformers.js's name of its weights. */
    onnxType: gguf ? dtype : "f32",
    chorus: (...[how, against, config, loads]: Call): Contender => {
      const file = gguf && { model: `/model/model-${gguf}.gguf` };
      return { name: "Chorus", how, against, loads, page: { module: "chorus", config: { ...file, ...config } } };
    },
    transformers: (...[how, against, config, loads]: Call): Contender => {
      const page = { module: "transformers", config: { dtype, ...config } };
      return { name: "transformers.js", how, against, loads, page };
    },
    /** @param config with `threads` [its own choice] */
    wllama: (type: GgufType, gpu: boolean, ...[how, against, config, loads]: Call): Contender => {
      const slots = Math.max(...loads.map(({ sequences }) => sequences));
      const mostTokens = loads.map(({ promptTokens = PROMPT_TOKENS, newTokens }) => promptTokens + newTokens);
      // Divided evenly; a slot that is completely filled aborts everything.
      const context = 2 * slots * Math.max(...mostTokens);
      const cacheType = type === "f32" ? "f32" : "f16";
      const ownConfig = { file: `model-${type}.gguf`, gpu, cacheType, slots, context, ...config };
      return { name: "wllama", how, against, loads, page: { module: "wllama", config: ownConfig } };
    },
  };
}

function onTheGpu({ newTokens, gguf }: Race): Contender[] {
  const { chorus, transformers, wllama, onnxType } = enginesOf(gguf);
  const against = "WebGPU, default settings";
  const loads = (way: Way, ...counts: number[]) => counts.map((sequences): Load => ({ way, sequences, newTokens }));
  const onCpu = (type: string) => `CPU (WASM), ${type}`;
  const together = loads("at once", 1, 4, 8);
  const padded = loads("padded batch", 1, 4, 8);
  const own = gguf ?? "f32";
  return [
    chorus("WebGPU, f32", against, { backend: "webgpu", ...F32 }, loads("at once", 1, 8)),
    // Floats in f16, or in f32 on a software adapter without halves; the cache in f16.
    chorus(against, against, { backend: "webgpu" }, together),
    transformers(`WebGPU, ${onnxType}`, against, { device: "webgpu" }, [...padded, ...loads("at once", 4)]),
    ...(gguf ? [] : [wllama("f16", true, "WebGPU, f16 weights and cache", against, {}, together)]),
    wllama(own, true, `WebGPU, ${own}`, against, {}, gguf ? together : loads("at once", 1, 8)),
    chorus(onCpu(own), against, { backend: "cpu", ...(!gguf && F32) }, together),
    transformers(onCpu(onnxType), against, { device: "wasm" }, padded),
    wllama(own, false, onCpu(own), against, {}, together),
  ];
}

/**
 * All on the same number of threads. Chorus's own settings keep the cache, and weights of over 256 MiB, in f16. All pages are
 * open at once: of a large model there are fewer.
 */
function onTheCpu({ newTokens, isLarge, gguf, maxPositions }: Race): Contender[] {
  const { chorus, transformers, wllama, onnxType } = enginesOf(gguf);
  const fitting = LONG_PROMPTS.filter((length) => length + TOKENS_AFTER_LONG_PROMPT <= maxPositions);
  const longPrompts = isLarge ? fitting.slice(0, 1) : fitting;
  const loadsAs = (way: Way): Load[] => [
    ...CPU_SEQUENCES.map((sequences) => ({ way, sequences, newTokens })),
    ...longPrompts.map((promptTokens) => ({ way, sequences: 1, promptTokens, newTokens: TOKENS_AFTER_LONG_PROMPT })),
  ];
  const together = loadsAs("at once");
  const threadCounts = isLarge ? CPU_THREADS.slice(-1) : CPU_THREADS;
  // A large model's file in f32 is more than wllama reads.
  const type = gguf ?? (isLarge ? "f16" : "f32");
  const reference = "CPU, f32 weights and cache";
  const alone: Load[] = [{ way: "at once", sequences: 1, newTokens }];
  return [
    chorus(reference, reference, { backend: "cpu", cpuThreads: threadCounts[0], ...F32 }, alone),
    ...threadCounts.flatMap((threads): Contender[] => {
      const named = (what: string) => `CPU, ${what}, ${threads === 1 ? "1 thread" : `${threads} threads`}`;
      const against = named("default settings");
      const own = { backend: "cpu", cpuThreads: threads };
      const portable = chorus(named("portable arithmetic"), against, { ...own, cpuMath: "portable" }, together);
      return [
        chorus(against, against, own, together),
        ...(isLarge ? [] : [portable]),
        transformers(named(onnxType), against, { device: "wasm", threads }, loadsAs("padded batch")),
        wllama(type, false, named(type), against, { threads }, together),
      ];
    }),
  ];
}
