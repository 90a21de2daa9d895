import type { Gpt2Config } from "../model/gpt2-config.ts";
import type { Gpt2Weights } from "../model/gpt2-weights.ts";
import type { ResolvedEngineConfig, WeightsDtype } from "../protocol/config.ts";
import type { Arena } from "./arena.ts";
import { packMatrix, padRows } from "./pack-weights.ts";
import { padTo, strideOf } from "./padding.ts";

export interface NormBuffers {
  readonly gamma: GPUBuffer;
  readonly beta: GPUBuffer;
}

export interface LinearBuffers {
  readonly w: GPUBuffer;
  readonly bias: GPUBuffer;
  /** Padded sizes of the product over 4. */
  readonly K4: number;
  readonly N4: number;
}

export interface LayerBuffers {
  readonly ln1: NormBuffers;
  readonly qkv: LinearBuffers;
  readonly proj: LinearBuffers;
  readonly ln2: NormBuffers;
  readonly fc: LinearBuffers;
  readonly fcProj: LinearBuffers;
  readonly keyCache: GPUBuffer;
  readonly valueCache: GPUBuffer;
}

/** A model on the GPU: its weights, and its cache. */
export interface Gpt2Buffers {
  readonly embedding: LinearBuffers;
  readonly wpe: GPUBuffer;
  readonly layers: readonly LayerBuffers[];
  readonly lnF: NormBuffers;
  /** The embedding itself where the head is tied to it. */
  readonly head: LinearBuffers;
}

/** Values of a head in the cache: its size, padded so that four can be read at once. */
export function headVec4(config: Gpt2Config): number {
  return Math.ceil(config.headDim / 4);
}

/** Uploads the weights tensor by tensor, so that no more than one is held in JavaScript beside the files. */
export function uploadWeights(
  arena: Arena,
  weights: Gpt2Weights,
  dtype: WeightsDtype,
  cache: Pick<ResolvedEngineConfig, "numGpuBlocks" | "blockSize" | "kvCacheDtype">,
): Gpt2Buffers {
  const { config } = weights;
  const { nEmbd, nInner, nPositions, vocabSize } = config;

  const norm = (label: string, { weight, bias }: { weight: Float32Array; bias: Float32Array }): NormBuffers => ({
    gamma: arena.upload(`${label} gamma`, padRows(weight, 1, nEmbd)),
    beta: arena.upload(`${label} beta`, padRows(bias, 1, nEmbd)),
  });
  const linear = (
    label: string,
    source: Float32Array,
    bias: Float32Array | null,
    k: number,
    n: number,
  ): LinearBuffers => {
    const { words, kStride, nStride } = packMatrix(source, k, n, dtype, { transposed: bias === null });
    return {
      w: arena.upload(label, words),
      bias: arena.upload(`${label} bias`, bias ? padRows(bias, 1, n) : new Float32Array(nStride)),
      K4: kStride / 4,
      N4: nStride / 4,
    };
  };

  const cacheWords =
    cache.numGpuBlocks * cache.blockSize * config.nHead * headVec4(config) * (cache.kvCacheDtype === "f16" ? 2 : 4);
  const embedding = linear("wte", weights.wte(), null, nEmbd, vocabSize);
  const untiedHead = weights.lmHead?.();
  return {
    embedding,
    wpe: arena.upload("wpe", padRows(weights.wpe(), nPositions, nEmbd)),
    layers: Array.from({ length: config.nLayer }, (_, i) => {
      const { ln1, qkv, proj, ln2, fc, fcProj } = weights.layer(i);
      return {
        ln1: norm(`layer ${i} ln1`, ln1),
        qkv: linear(`layer ${i} qkv`, qkv.weight, qkv.bias, nEmbd, 3 * nEmbd),
        proj: linear(`layer ${i} proj`, proj.weight, proj.bias, nEmbd, nEmbd),
        ln2: norm(`layer ${i} ln2`, ln2),
        fc: linear(`layer ${i} fc`, fc.weight, fc.bias, nEmbd, nInner),
        fcProj: linear(`layer ${i} fcProj`, fcProj.weight, fcProj.bias, nInner, nEmbd),
        keyCache: arena.storage(`layer ${i} keys`, 4 * cacheWords),
        valueCache: arena.storage(`layer ${i} values`, 4 * cacheWords),
      };
    }),
    lnF: norm("lnF", weights.lnF()),
    head: untiedHead ? linear("lm_head", untiedHead, null, nEmbd, vocabSize) : embedding,
  };
}

/** What a step computes on its way, for the largest step there can be. */
export interface Activations {
  /** The residual stream [rows, nEmbd]. */
  readonly x: GPUBuffer;
  readonly normed: GPUBuffer;
  readonly qkv: GPUBuffer;
  readonly attended: GPUBuffer;
  readonly hidden: GPUBuffer;
  /** Final norm of the rows that sample [samples, nEmbd]. */
  readonly headInput: GPUBuffer;
  readonly logits: GPUBuffer;
  /** The last id drawn in each slot: the next step's input. */
  readonly feedback: GPUBuffer;
  /** (id, bits of its log-probability) of each sample, to be read back. */
  readonly sampled: GPUBuffer;
}

/** The kernels read rows in tiles of up to 32, whether a step has them or not. */
const ROW_TILE = 32;

export function createActivations(
  arena: Arena,
  config: Gpt2Config,
  limits: { maxRows: number; maxSamples: number },
): Activations {
  const rows = padTo(ROW_TILE, limits.maxRows);
  const samples = padTo(ROW_TILE, limits.maxSamples);
  const floats = (label: string, height: number, width: number) => arena.storage(label, 4 * height * strideOf(width));
  return {
    x: floats("x", rows, config.nEmbd),
    normed: floats("normed", rows, config.nEmbd),
    qkv: floats("qkv", rows, 3 * config.nEmbd),
    attended: floats("attended", rows, config.nEmbd),
    hidden: floats("hidden", rows, config.nInner),
    headInput: floats("head input", samples, config.nEmbd),
    logits: floats("logits", samples, config.vocabSize),
    feedback: arena.storage("feedback", 4 * limits.maxSamples),
    sampled: arena.storage("sampled", 8 * limits.maxSamples),
  };
}
