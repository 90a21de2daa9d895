// The kernels that GPUs get, as texts: every variant of a product for one model, and for others those that a step begins with.

import { variantOf, type KernelVariant } from "../../src/backends/gpu/kernel.ts";
import {
  attention,
  attentionMerge,
  deltaConv,
  deltaRule,
  gatedNorm,
  keepConvRows,
  layerNorm,
  outputGate,
  processLogits,
  quantiseRows,
  sample,
  samplePlain,
  shortConv,
  topLogprobs,
} from "../../src/backends/gpu/kernels/kernels.ts";
import { attentionTile, maxSplits, mostQueries, sharedQueries } from "../../src/backends/gpu/kernels/attention.ts";
import { deltaNetConstants, GPU_LANES } from "../../src/backends/gpu/kernels/delta-net.ts";
import { Epilogue } from "../../src/backends/epilogues.ts";
import { layoutConstants } from "../../src/backends/gpu/matrix-layout.ts";
import { integerMatmuls, isNormApart, matmulChoices } from "../../src/backends/gpu/matmul-variants.ts";
import { specialise } from "../../src/backends/gpu/specialise.ts";
import { packed } from "../../src/files/packing.ts";
import type { WeightLayout } from "../../src/models/weight-layouts.ts";

interface IsaModel extends Readonly<Record<"hidden" | "intermediate" | "heads" | "kvHeads" | "headSize", number>> {
  readonly net?: Readonly<Record<"keyHeads" | "valueHeads" | "keyDim" | "valueDim" | "taps", number>>;
}

export const ISA_MODELS: Readonly<Record<string, IsaModel>> = {
  "SmolLM2-135M": { hidden: 576, intermediate: 1536, heads: 9, kvHeads: 3, headSize: 64 },
  "Qwen3-0.6B": { hidden: 1024, intermediate: 3072, heads: 16, kvHeads: 8, headSize: 128 },
  "Qwen2.5-0.5B": { hidden: 896, intermediate: 4864, heads: 14, kvHeads: 2, headSize: 64 },
  "Llama-3.2-1B": { hidden: 2048, intermediate: 8192, heads: 32, kvHeads: 8, headSize: 64 },
  "Qwen3.5-0.8B": {
    hidden: 1024,
    intermediate: 3584,
    heads: 8,
    kvHeads: 2,
    headSize: 256,
    net: { keyHeads: 16, valueHeads: 16, keyDim: 128, valueDim: 128, taps: 4 },
  },
};

const LAYOUTS: Readonly<Record<string, WeightLayout>> = {
  f16: "f16",
  q4: packed(4, 8, 32, { factor: -1 / 8 }),
  Q4_K: packed(4, 0, 32, { block: 256, hasMinimum: true }),
  Q6_K: packed(6, 32, 16, { block: 256 }),
  IQ4_NL: packed(4, 128, 32, { table: "iq4" }),
};

const LENGTH = 2048;
const VOCABULARY = 49_152;

/** Returns a model's kernels, with every candidate or only the defaults. @param name one of ISA_MODELS */
export function isaKernels(name: string, hasAll: boolean): { label: string; code: string }[] {
  const model = ISA_MODELS[name];
  if (!model) throw new RangeError(`no model ${name}: there are ${Object.keys(ISA_MODELS).join(", ")}`);
  const others = hasAll ? othersOf(model) : [];
  const kernels = [...productsOf(model, hasAll), ...attentionOf(model), ...deltaNetOf(model), ...others];
  return kernels.map(([label, { kernel, constants }]) => ({
    label: `${name}: ${label}`,
    code: specialise(kernel, constants),
  }));
}

type Labelled = readonly [string, KernelVariant];

/** Products for gate and up, with the norm before them as a step has it. */
function productsOf({ hidden, intermediate }: IsaModel, hasAll: boolean): Labelled[] {
  const traits = { style: "fused", hasSubgroups: false, hasPackedDots: true } as const;
  const choices = matmulChoices(traits).map((all) => (hasAll ? all : all.slice(0, 1)));
  const shape = { K4: hidden / 4, N4: intermediate / 2, Y4: intermediate / 4, SAMPLES_ONLY: false };
  const norm = { RMS: true, WIDTH: hidden, EPSILON: 1e-6 };
  const fits = ([, layout]: readonly [string, WeightLayout]) =>
    typeof layout === "string" || hidden % layout.block === 0;
  return Object.entries(LAYOUTS)
    .filter(fits)
    .flatMap(([name, layout]) =>
      [...choices.flat(), ...(layout === "f16" ? [] : integerMatmuls(traits))].map((variant): Labelled => {
        const product = { ...shape, EPILOGUE: Epilogue.swiglu, ...layoutConstants(layout) };
        return [`${variant.name}, ${name}`, variant.kernel(product, { norm: isNormApart(variant) ? null : norm })];
      }),
    );
}

function attentionOf({ heads, kvHeads, headSize }: IsaModel): Labelled[] {
  const HEAD_VEC4 = headSize / 4;
  const MAX_SPLITS = maxSplits(HEAD_VEC4, LENGTH);
  const head = {
    HEADS: heads,
    HEAD_SIZE: headSize,
    HEAD_VEC4,
    Y_STRIDE: heads * headSize,
    WINDOW: 2 ** 32 - 1,
    MAX_SPLITS,
  };
  const cache = { KV_HEADS: kvHeads, BLOCK_SIZE: 16, MAX_BLOCKS: LENGTH / 16, CACHE_F16: true };
  const QKV_STRIDE = (heads + 2 * kvHeads) * headSize;
  const whole = {
    ...head,
    ...cache,
    ...attentionTile(HEAD_VEC4),
    QKV_STRIDE,
    SCALE: headSize ** -0.5,
    CAP: 0,
    ALONE: true,
  };
  const { SPLIT } = attentionTile(HEAD_VEC4);
  const most = [false, true].map((isIntel) => mostQueries(HEAD_VEC4, isIntel));
  const shares = new Set(most.map((queries) => sharedQueries(heads, kvHeads, queries).QUERIES));
  return [
    ...[...shares].flatMap((QUERIES): Labelled[] => [
      [`attention, ${QUERIES} heads`, variantOf(attention, { ...whole, ROWS: 1, QUERIES })],
      [`attention in splits, ${QUERIES} heads`, variantOf(attention, { ...whole, ROWS: 1, QUERIES, ALONE: false })],
    ]),
    ["attention-merge", variantOf(attentionMerge, { ...head, SPLIT, LANES: 64 })],
    ...[2, 4, 8]
      .filter((rows) => rows <= mostQueries(HEAD_VEC4))
      .map((ROWS): Labelled => [`attention, ${ROWS} rows`, variantOf(attention, { ...whole, ROWS, QUERIES: 1 })]),
  ];
}

function deltaNetOf({ net }: IsaModel): Labelled[] {
  if (!net) return [];
  const { ofConv, ofRule, ofNorm } = deltaNetConstants({ ...net, headOrder: "grouped" }, GPU_LANES);
  return [
    ["delta-conv", variantOf(deltaConv, ofConv)],
    ["delta-rule", variantOf(deltaRule, ofRule)],
    ["gated-norm", variantOf(gatedNorm, { ...ofNorm, EPSILON: 1e-6 })],
  ];
}

function othersOf({ hidden }: IsaModel): Labelled[] {
  const draws = { LANES: 256, VOCABULARY, STRIDE: VOCABULARY, MAX_LENGTH: LENGTH };
  const { MAX_LENGTH: _, ...top } = draws;
  const norm = { K4: hidden / 4, ADD_TO_OUTPUT: false, RMS: true, WIDTH: hidden, EPSILON: 1e-6 };
  const N4 = VOCABULARY / 4;
  const toHead = { K4: hidden / 4, N4, Y4: N4, SAMPLES_ONLY: true, EPILOGUE: Epilogue.head, ...layoutConstants("f16") };
  const heads = matmulChoices({ style: "fused", hasSubgroups: false }).map(([variant]): Labelled => {
    return [`head, ${variant.name}`, variant.kernel(toHead, { head: { VOCABULARY, FIRST_TOKEN: 0 } })];
  });
  const wide = { LANES: 64, WIDTH: hidden, Y_STRIDE: hidden };
  const kept = { X_STRIDE: 3 * hidden, KEPT_STRIDE: hidden, KEPT_ROWS: 2, BLOCK_SIZE: 16, MAX_BLOCKS: LENGTH / 16 };
  const { Y_STRIDE: __, ...rows } = { ...wide, ...kept };
  return [
    ...heads,
    ["short-conv, 3 taps", variantOf(shortConv, { ...wide, ...kept, TAPS: 3 })],
    ["keep-conv-rows", variantOf(keepConvRows, rows)],
    ["output-gate", variantOf(outputGate, { ...wide, FIRST: 0, GATES_STRIDE: hidden })],
    ["layer-norm", variantOf(layerNorm, norm)],
    ["quantise-rows", variantOf(quantiseRows, { K4: norm.K4, LANES: 32 })],
    ["process-logits", variantOf(processLogits, { ...draws, RULE_WORDS: LENGTH })],
    ["sample", variantOf(sample, { ...draws, PROCESSED_LOGPROBS: false, HISTOGRAM_IN_BUFFER: false })],
    ["sample-plain", variantOf(samplePlain, draws)],
    ["top-logprobs", variantOf(topLogprobs, { ...top, MAX_TOP: 20, PROCESSED_LOGPROBS: false })],
  ];
}
