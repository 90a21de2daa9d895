// The engines that are compared, and the ways in which each can be asked.

import type { EngineDescription, Way } from "./engine-page.ts";

export interface Contender {
  readonly name: string;
  /** Where it computes, and in what its weights and cache are kept. */
  readonly how: string;
  readonly page: EngineDescription;
  readonly loads: readonly Load[];
}

/** The number of prompts, and how they are asked. */
export interface Load {
  readonly way: Way;
  readonly sequences: number;
}

const MOST_SEQUENCES = 8;

const loads = (way: Way, ...counts: number[]): Load[] => counts.map((sequences) => ({ way, sequences }));

/** Computes in f32 without rounding in between. The others' tokens are compared with its tokens. */
export const REFERENCE: Contender = {
  name: "Chorus",
  how: "WebGPU, f32",
  page: { module: "chorus", config: { dtype: "f32", kvCacheDtype: "f32" } },
  loads: loads("at once", 1, 8),
};

/** Default settings: weights in f16, or in f32 on a software adapter without halves; the cache in f16. */
export const CHORUS: Contender = {
  name: "Chorus",
  how: "WebGPU, default settings",
  page: { module: "chorus", config: {} },
  loads: [...loads("at once", 1, 4, 8), ...loads("one after the other", 8)],
};

/** @param tokensOfSequence most tokens of a prompt and its answer, for engines that need it beforehand */
export function listContenders(tokensOfSequence: number): Contender[] {
  const transformers = (device: "webgpu" | "wasm"): EngineDescription => ({
    module: "transformers",
    config: { device },
  });
  const wllama = (type: "f32" | "f16", gpu: boolean): EngineDescription => ({
    module: "wllama",
    config: {
      file: `model-${type}.gguf`,
      gpu,
      cacheType: type,
      slots: MOST_SEQUENCES,
      // Shared out evenly; a slot that is filled to its last place aborts everything.
      context: 2 * MOST_SEQUENCES * tokensOfSequence,
    },
  });
  return [
    REFERENCE,
    CHORUS,
    {
      name: "transformers.js",
      how: "WebGPU, f32",
      page: transformers("webgpu"),
      loads: [...loads("padded batch", 1, 4, 8), ...loads("at once", 4)],
    },
    {
      name: "wllama",
      how: "WebGPU, f16 weights and cache",
      page: wllama("f16", true),
      loads: loads("at once", 1, 4, 8),
    },
    { name: "wllama", how: "WebGPU, f32", page: wllama("f32", true), loads: loads("at once", 1, 8) },
    {
      name: "transformers.js",
      how: "CPU (WASM), f32",
      page: transformers("wasm"),
      loads: loads("padded batch", 1, 4, 8),
    },
    { name: "wllama", how: "CPU (WASM), f32", page: wllama("f32", false), loads: loads("at once", 1, 4, 8) },
  ];
}
