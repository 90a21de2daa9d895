// The engines to compare, and the ways in which each can be called.

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

/** The number of prompts, and how they are sent. */
export interface Load {
  readonly way: Way;
  readonly sequences: number;
  /** Tokens of each prompt. [PROMPT_TOKENS] */
  readonly promptTokens?: number;
  /** Tokens of each answer. [as many as there is time for] */
  readonly newTokens?: number;
}

/** Where all engines of a run compute. */
export type Place = "gpu" | "cpu";

export const PROMPT_TOKENS = 32;

/** Prompts whose first token is timed on the CPU, with a few tokens after it. */
const LONG_PROMPTS = [128, 512] as const;
const TOKENS_AFTER_LONG_PROMPT = 4;
/** Threads of each engine on the CPU, and prompts at once. */
const CPU_THREADS = [1, 2] as const;
const CPU_SEQUENCES = [1, 4, 8, 16] as const;

const loads = (way: Way, ...counts: number[]): Load[] => counts.map((sequences) => ({ way, sequences }));

interface Lineup {
  /** Computes in f32 without rounding in between; the others' tokens are compared with its tokens. It comes first. */
  readonly contenders: readonly [reference: Contender, ...others: Contender[]];
  /** Most prompts at once. */
  readonly mostSequences: number;
}

interface Race {
  readonly place: Place;
  /** Tokens of an answer: the most on a GPU, as many as this on the CPU. */
  readonly newTokens: number;
  /** Whether wllama can't read the model in f32. */
  readonly isLarge: boolean;
  readonly maxPositions: number;
  /** How the file that Chorus and wllama read is packed; transformers.js gets the same values. [floats, by each engine's own format] */
  readonly gguf: Quantisation | undefined;
}

export function listContenders(race: Race): Lineup {
  return race.place === "gpu" ? onTheGpu(race) : onTheCpu(race);
}

const F32 = { dtype: "f32", kvCacheDtype: "f32" } as const;

/** Returns the engines' pages for a model whose matrices are in floats, or packed. */
function pagesOf(gguf: Quantisation | undefined) {
  const dtype = gguf ? QUANTISATIONS[gguf].onnx : "fp32";
  return {
    chorus: (config: object): EngineDescription => ({
      module: "chorus",
      config: { ...(gguf && { model: `/model/model-${gguf}.gguf` }), ...config },
    }),
    transformers: (config: object): EngineDescription => ({ module: "transformers", config: { dtype, ...config } }),
    /** transformers.js's name of its weights. */
    onnxType: gguf ? dtype : "f32",
  };
}

function onTheGpu({ newTokens, gguf }: Race): Lineup {
  const mostSequences = 8;
  const against = "WebGPU, default settings";
  const { chorus, transformers, onnxType } = pagesOf(gguf);
  const contender = (name: string, how: string, page: EngineDescription, ...given: Load[][]): Contender => ({
    name,
    how,
    against,
    page,
    loads: given.flat(),
  });
  const wllama = (type: GgufType, gpu: boolean) =>
    wllamaPage({ type, gpu, slots: mostSequences, tokensOfSequence: PROMPT_TOKENS + newTokens });
  const onCpu = (type: string) => `CPU (WASM), ${type}`;
  const together = loads("at once", 1, 4, 8);
  const padded = loads("padded batch", 1, 4, 8);
  const own = gguf ?? "f32";
  const contenders: Lineup["contenders"] = [
    contender("Chorus", "WebGPU, f32", chorus({ backend: "webgpu", ...F32 }), loads("at once", 1, 8)),
    // Floats in f16, or in f32 on a software adapter without halves; the cache in f16.
    contender("Chorus", against, chorus({ backend: "webgpu" }), together, loads("one after the other", 8)),
    contender(
      "transformers.js",
      `WebGPU, ${onnxType}`,
      transformers({ device: "webgpu" }),
      padded,
      loads("at once", 4),
    ),
    ...(gguf ? [] : [contender("wllama", "WebGPU, f16 weights and cache", wllama("f16", true), together)]),
    contender("wllama", `WebGPU, ${own}`, wllama(own, true), gguf ? together : loads("at once", 1, 8)),
    contender("Chorus", onCpu(own), chorus({ backend: "cpu", ...(!gguf && F32) }), together),
    contender("transformers.js", onCpu(onnxType), transformers({ device: "wasm" }), padded),
    contender("wllama", onCpu(own), wllama(own, false), together),
  ];
  return { contenders, mostSequences };
}

/**
 * All on the same number of threads. Chorus's own settings keep the cache, and weights of over 256 MiB, in f16. All pages are
 * open at once: of a large model there are fewer.
 */
function onTheCpu({ newTokens, isLarge, gguf, maxPositions }: Race): Lineup {
  const mostSequences = Math.max(...CPU_SEQUENCES);
  const fitting = LONG_PROMPTS.filter((length) => length + TOKENS_AFTER_LONG_PROMPT <= maxPositions);
  const longPrompts = isLarge ? fitting.slice(0, 1) : fitting;
  const tokensOfSequence = Math.max(
    PROMPT_TOKENS + newTokens,
    ...longPrompts.map((length) => length + TOKENS_AFTER_LONG_PROMPT),
  );
  const { chorus, transformers, onnxType } = pagesOf(gguf);
  // Whole requests are compared, so all answers are of one length.
  const loadsAs = (way: Way): Load[] => [
    ...CPU_SEQUENCES.map((sequences) => ({ way, sequences, newTokens })),
    ...longPrompts.map((promptTokens) => ({ way, sequences: 1, promptTokens, newTokens: TOKENS_AFTER_LONG_PROMPT })),
  ];
  const threadCounts = isLarge ? CPU_THREADS.slice(-1) : CPU_THREADS;
  // A large model's file in f32 is more than wllama reads.
  const type = gguf ?? (isLarge ? "f16" : "f32");
  const contenders = threadCounts.flatMap((threads): Contender[] => {
    const named = (what: string) => `CPU, ${what}, ${threads === 1 ? "1 thread" : `${threads} threads`}`;
    const contender = (name: string, what: string, way: Way, page: EngineDescription): Contender => ({
      name,
      how: named(what),
      against: named("default settings"),
      page,
      loads: loadsAs(way),
    });
    const own = { backend: "cpu", cpuThreads: threads };
    const portable = chorus({ ...own, cpuMath: "portable" });
    return [
      contender("Chorus", "default settings", "at once", chorus(own)),
      ...(isLarge ? [] : [contender("Chorus", "portable arithmetic", "at once", portable)]),
      contender("transformers.js", onnxType, "padded batch", transformers({ device: "wasm", threads })),
      contender(
        "wllama",
        type,
        "at once",
        wllamaPage({ type, gpu: false, threads, slots: mostSequences, tokensOfSequence }),
      ),
    ];
  });
  const how = "CPU, f32 weights and cache";
  const reference: Contender = {
    name: "Chorus",
    how,
    against: how,
    page: chorus({ backend: "cpu", cpuThreads: threadCounts[0], ...F32 }),
    loads: [{ way: "at once", sequences: 1, newTokens }],
  };
  return { contenders: [reference, ...contenders], mostSequences };
}

interface WllamaOptions {
  readonly type: GgufType;
  readonly gpu: boolean;
  /** [its own choice] */
  readonly threads?: number;
  readonly slots: number;
  /** Most tokens of a prompt and its answer. */
  readonly tokensOfSequence: number;
}

function wllamaPage({ type, gpu, threads, slots, tokensOfSequence }: WllamaOptions): EngineDescription {
  return {
    module: "wllama",
    config: {
      file: `model-${type}.gguf`,
      gpu,
      threads,
      cacheType: type === "f32" ? "f32" : "f16",
      slots,
      // Divided evenly; a slot that is completely filled aborts everything.
      context: 2 * slots * tokensOfSequence,
    },
  };
}
