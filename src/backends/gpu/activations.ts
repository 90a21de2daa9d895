import { capsOf, type Graph, type Value, type ValueShape } from "../../models/graph.ts";
import type { ActivationDtype } from "../../protocol/config.ts";
import type { ModelShape } from "../../protocol/model-shape.ts";
import { shareValues } from "../share-values.ts";
import type { StepLimits } from "../step-limits.ts";
import type { Arena } from "./arena.ts";
import type { KernelStyle } from "./kernel-style.ts";
import { splitFloats } from "./kernels/attention.ts";
import { padTo, strideOf } from "./padding.ts";

/** The kernels read rows in tiles of up to 64, whether a step has them or not. */
const ROW_TILE = 64;
/** Buffers with one row per sample are read and written by tiles of up to 32, or row by row. */
const SAMPLE_TILE = 32;
/** Size of a buffer that is bound but neither read nor written. */
const UNUSED_BYTES = 16;

interface ActivationLimits extends Pick<StepLimits, "maxRows" | "maxSamples" | "maxLength"> {
  readonly style: KernelStyle;
  readonly activationDtype: ActivationDtype;
}

/** Buffers for the intermediate values of the largest possible step. */
export class Activations {
  /** Partial results of attention in splits, for a step of few rows, on GPUs. */
  readonly attentionParts: GPUBuffer;
  /** [samples, vocabSize], rows padded. */
  readonly logits: GPUBuffer;
  /** Summaries of each 32 logits [samples, vocabSize / 32] vec4: see shaders/lib/logit-part.wgsl. */
  readonly logitParts: GPUBuffer;
  /** The last id drawn in each slot: the next step's input. */
  readonly feedback: GPUBuffer;
  /** (id, bits of its log-probability) of each sample, to be read back. */
  readonly sampled: GPUBuffer;
  /** What a norm of its own writes for the product after it, on GPUs. */
  readonly normed: GPUBuffer;
  /** The rows of a product's input in integers: see shaders/quantise-rows.wgsl. */
  readonly quantised: GPUBuffer;
  readonly #values: readonly (GPUBuffer | undefined)[];

  constructor(arena: Arena, shape: ModelShape, graph: Graph, limits: ActivationLimits) {
    const rows = padTo(ROW_TILE, limits.maxRows);
    const samples = padTo(SAMPLE_TILE, limits.maxSamples);
    const isFused = limits.style === "fused";
    const heightOf = ({ height }: ValueShape) => (height === "rows" ? rows : samples);
    const { slots, slotOf } = shareValues(graph, { normsAreFused: normsAreFused(limits) });
    const buffers = slots.map((slot, i) =>
      arena.storage(`activations ${i} of ${slot.width}`, 4 * heightOf(slot) * strideOf(slot.width)),
    );
    this.#values = slotOf.map((slot) => (slot === null ? undefined : buffers[slot]));
    const heights = Math.max(rows, samples);
    const widths = graph.operations.map((one) => (one.type === "norm" ? (graph.values[one.output]?.width ?? 0) : 0));
    const normedBytes = 4 * heights * strideOf(Math.max(...widths));
    this.normed = arena.storage("normed", normsAreFused(limits) ? normedBytes : UNUSED_BYTES);
    const inputs = graph.operations.map((one) => ("input" in one ? (graph.values[one.input]?.width ?? 0) : 0));
    const integerBytes = (3 / 2) * heights * strideOf(Math.max(...inputs));
    this.quantised = arena.storage("integers", limits.activationDtype === "int8" ? integerBytes : UNUSED_BYTES);
    this.attentionParts = arena.storage("attention parts", isFused ? 4 * splitFloats(shape, limits) : UNUSED_BYTES);
    this.logits = arena.storage("logits", 4 * samples * strideOf(shape.vocabSize));
    this.logitParts = arena.storage("logit parts", (samples * strideOf(shape.vocabSize)) / 2);
    this.feedback = arena.storage("feedback", 4 * limits.maxSamples);
    this.sampled = arena.storage("sampled", 8 * limits.maxSamples);
  }

  /** Returns the buffer of a value while it is used; it may hold others before and after. */
  buffer(value: Value): GPUBuffer {
    const buffer = this.#values[value];
    if (buffer === undefined) throw new Error(`value ${value} of the graph has no buffer`);
    return buffer;
  }
}

/** Whether products of floats normalise their input themselves; rows in integers are made of what a norm has written. */
export function normsAreFused({
  style,
  activationDtype,
}: Pick<ActivationLimits, "style" | "activationDtype">): boolean {
  return style === "fused" && activationDtype === "f32";
}

/** Whether the model's head summarises its logits itself. What is capped first is summed up by a kernel of its own. */
export function headSummarises(graph: Graph, limits: Parameters<typeof normsAreFused>[0]): boolean {
  return normsAreFused(limits) && capsOf(graph).logitCap === null;
}
