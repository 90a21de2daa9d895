// Every kernel: a file of shaders/, with the parts of shaders/lib/ that it uses.

import { defineKernel, type Kernel } from "../define-kernel.ts";

const TEXTS = import.meta.glob<string>("../../../../shaders/**/*.wgsl", {
  query: "?raw",
  import: "default",
  eager: true,
});

function kernel(name: string, ...parts: readonly string[]): Kernel {
  const texts = [name, ...parts.map((part) => `lib/${part}`)].map((file) => TEXTS[`../../../../shaders/${file}.wgsl`]);
  if (!texts.every((text) => text !== undefined)) throw new Error(`shaders/ lacks a part of ${name}`);
  return defineKernel(name, ...texts);
}

const WEIGHTS = ["half", "layout", "weights"];
const PRODUCT = ["activation", "epilogue", "step", ...WEIGHTS];
const PLAIN_PRODUCT = ["plain-product", ...PRODUCT];
const FUSED_PRODUCT = ["best", "fused-product", "head", "logit-part", "norm", "random", ...PRODUCT];

/** Six kernels of floats with one contract and the same bits. matmul-variants.ts says which is used when. */
export const matmulLane = kernel("matmul-lane", ...PLAIN_PRODUCT);
export const matmulRow = kernel("matmul-row", ...PLAIN_PRODUCT);
export const matmulSubgroup = kernel("matmul-subgroup", ...PLAIN_PRODUCT);
export const matmulAny = kernel("matmul-any", ...PRODUCT);
export const matmulSkinny = kernel("matmul-skinny", ...FUSED_PRODUCT);
export const matmulTiled = kernel("matmul-tiled", ...FUSED_PRODUCT);
/** Multiplies integers: for any compiler, and for those with the language feature packed_4x8_integer_dot_product. */
export const matmulInteger = kernel("matmul-integer", ...PLAIN_PRODUCT, "plain-dot");
export const matmulIntegerPacked = kernel("matmul-integer", ...PLAIN_PRODUCT, "packed-dot");

const CACHE = ["cache", "half", "keys-values", "step"];
const SCORES = [...CACHE, "cap", "window"];

export const attention = kernel("attention", ...SCORES, "softmax-part", "write-cache");
export const attentionMerge = kernel("attention-merge", "softmax-part", "step", "window");
export const attentionQuad = kernel("attention-quad", ...SCORES);
export const cacheWrite = kernel("cache-write", ...CACHE, "write-cache");

export const capLogits = kernel("cap-logits", "cap");
export const deltaConv = kernel("delta-conv", "sigmoid", "states", "step");
export const deltaRule = kernel("delta-rule", "states", "step");
export const embed = kernel("embed", "step", ...WEIGHTS);
export const gatedNorm = kernel("gated-norm", "sigmoid", "step");
export const keepConvRows = kernel("keep-conv-rows", "conv-rows", "step");
export const layerNorm = kernel("layer-norm", "norm", "step");
export const outputGate = kernel("output-gate", "sigmoid", "step");
export const packWeights = kernel("pack-weights", "half", "layout");
export const probeHalves = kernel("probe-halves", "half", "step");
export const processLogits = kernel("process-logits", "best", "logit-part", "over-lanes", "step");
export const quantiseRows = kernel("quantise-rows");
export const rotary = kernel("rotary", "step");
export const sample = kernel("sample", "best", "filters", "logit-part", "over-lanes", "random", "step");
export const samplePlain = kernel("sample-plain", "logit-part", "step");
export const shortConv = kernel("short-conv", "conv-rows", "step");
export const sumLogits = kernel("sum-logits", "best", "logit-part", "random", "step");
export const topLogprobs = kernel("top-logprobs", "best", "logit-part", "over-lanes", "step");
