import type { Gpt2Config } from "../../models/gpt2/gpt2-config.ts";
import type { Gpt2Weights, LayerTensors } from "../../models/gpt2/gpt2-weights.ts";
import type { Tensor } from "../../files/tensor.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import type { Arena } from "./arena.ts";
import { splitFloats } from "./kernels/attention.ts";
import { padTo, strideOf } from "./padding.ts";
import type { PackedMatrix, TablePart, WeightUploader } from "./weight-uploader.ts";

export interface LinearBuffers extends PackedMatrix {
  readonly bias: GPUBuffer;
}

/** A part of an embedding or a head: its columns from `firstRow` of the file's matrix on. */
export interface TableBuffers extends LinearBuffers, TablePart {}

/** A norm is its gamma, then its beta. */
interface LayerWeights {
  readonly ln1: GPUBuffer;
  readonly qkv: LinearBuffers;
  readonly proj: LinearBuffers;
  readonly ln2: GPUBuffer;
  readonly fc: LinearBuffers;
  readonly fcProj: LinearBuffers;
}

export interface LayerBuffers extends LayerWeights {
  readonly keyCache: GPUBuffer;
  readonly valueCache: GPUBuffer;
}

/** A model on the GPU: its weights, and its cache. */
export interface Gpt2Buffers {
  /** In parts, where it is larger than can be bound at once. */
  readonly embedding: readonly TableBuffers[];
  readonly wpe: GPUBuffer;
  readonly layers: readonly LayerBuffers[];
  readonly lnF: GPUBuffer;
  /** The embedding itself where the head is tied to it. */
  readonly head: readonly TableBuffers[];
  /** Of the weights as they are kept here, with their padding. */
  readonly weightBytes: number;
}

/** Values of a head in the cache: its size, padded so that four can be read at once. */
export function headVec4(config: Gpt2Config): number {
  return Math.ceil(config.headDim / 4);
}

/** Uploads the weights tensor by tensor, and makes the cache. */
export async function uploadWeights(
  uploader: WeightUploader,
  arena: Arena,
  weights: Gpt2Weights,
  cache: Pick<ResolvedEngineConfig, "numGpuBlocks" | "blockSize" | "kvCacheDtype">,
): Promise<Gpt2Buffers> {
  const { config } = weights;
  const norm = (label: string, { weight, bias }: LayerTensors) => uploader.pair(label, weight, bias);
  const linear = async (label: string, { weight, bias }: LayerTensors): Promise<LinearBuffers> => ({
    ...(await uploader.matrix(label, weight)),
    bias: await uploader.rows(`${label} bias`, bias),
  });
  const table = async (label: string, tensor: Tensor): Promise<readonly TableBuffers[]> =>
    (await uploader.table(label, tensor)).map((part) => ({
      ...part,
      bias: arena.storage(`${label} bias`, 16 * part.N4),
    }));

  const bytesBefore = arena.bytes;
  const embedding = await table("wte", weights.wte);
  const head = weights.lmHead ? await table("lm_head", weights.lmHead) : embedding;
  const wpe = await uploader.rows("wpe", weights.wpe);
  const lnF = await norm("lnF", weights.lnF);
  const layers: LayerWeights[] = [];
  for (const [i, layer] of weights.layers.entries()) {
    layers.push({
      ln1: await norm(`layer ${i} ln1`, layer.ln1),
      qkv: await linear(`layer ${i} qkv`, layer.qkv),
      proj: await linear(`layer ${i} proj`, layer.proj),
      ln2: await norm(`layer ${i} ln2`, layer.ln2),
      fc: await linear(`layer ${i} fc`, layer.fc),
      fcProj: await linear(`layer ${i} fcProj`, layer.fcProj),
    });
  }
  const weightBytes = arena.bytes - bytesBefore;

  const cacheWords =
    cache.numGpuBlocks * cache.blockSize * config.nHead * headVec4(config) * (cache.kvCacheDtype === "f16" ? 2 : 4);
  return {
    embedding,
    wpe,
    layers: layers.map((layer, i) => ({
      ...layer,
      keyCache: arena.storage(`layer ${i} keys`, 4 * cacheWords),
      valueCache: arena.storage(`layer ${i} values`, 4 * cacheWords),
    })),
    lnF,
    head,
    weightBytes,
  };
}

/** What a step computes on its way, for the largest step there can be. */
export interface Activations {
  /** The residual stream [rows, nEmbd]. */
  readonly x: GPUBuffer;
  readonly normed: GPUBuffer;
  readonly qkv: GPUBuffer;
  readonly attended: GPUBuffer;
  /** What attention computes in splits, of a step of few rows, on GPUs. */
  readonly attentionParts: GPUBuffer;
  readonly hidden: GPUBuffer;
  /** Final norm of the rows that sample [samples, nEmbd]. */
  readonly headInput: GPUBuffer;
  readonly logits: GPUBuffer;
  /** What the head says of each 32 logits [samples, vocabSize / 32] vec4, on GPUs: see shaders/lib/logit-part.wgsl. */
  readonly logitParts: GPUBuffer;
  /** The last id drawn in each slot: the next step's input. */
  readonly feedback: GPUBuffer;
  /** (id, bits of its log-probability) of each sample, to be read back. */
  readonly sampled: GPUBuffer;
}

/** The kernels read rows in tiles of up to 64, whether a step has them or not. */
const ROW_TILE = 64;
/** What samples have rows of their own is read and written by tiles of up to 32, or row by row. */
const SAMPLE_TILE = 32;
/** Of a buffer that is bound and neither read nor written. */
const UNUSED_BYTES = 16;

export function createActivations(
  arena: Arena,
  config: Gpt2Config,
  limits: { maxRows: number; maxSamples: number; maxLength: number; isSoftware: boolean },
): Activations {
  const rows = padTo(ROW_TILE, limits.maxRows);
  const samples = padTo(SAMPLE_TILE, limits.maxSamples);
  // Bound on software adapters too, whose kernels leave them alone.
  const onGpus = (bytes: number) => (limits.isSoftware ? UNUSED_BYTES : bytes);
  const floats = (label: string, height: number, width: number) => arena.storage(label, 4 * height * strideOf(width));
  return {
    x: floats("x", rows, config.nEmbd),
    normed: floats("normed", rows, config.nEmbd),
    qkv: floats("qkv", rows, 3 * config.nEmbd),
    attended: floats("attended", rows, config.nEmbd),
    attentionParts: arena.storage("attention parts", onGpus(4 * splitFloats(config.nHead, headVec4(config), limits))),
    hidden: floats("hidden", rows, config.nInner),
    headInput: floats("head input", samples, config.nEmbd),
    logits: floats("logits", samples, config.vocabSize),
    logitParts: arena.storage("logit parts", onGpus((samples * strideOf(config.vocabSize)) / 2)),
    feedback: arena.storage("feedback", 4 * limits.maxSamples),
    sampled: arena.storage("sampled", 8 * limits.maxSamples),
  };
}
