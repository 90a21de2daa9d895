import type { Gate, Head, LinearOperation, Norm, Value } from "../../../models/graph.ts";
import type { Dispatch, StepSize } from "../kernel.ts";
import { Epilogue, gateEpilogue, linearEpilogue } from "../../epilogues.ts";
import { capLogits, matmulInteger, quantiseRows } from "../kernels/kernels.ts";
import {
  isNormApart,
  type HeadShape,
  type MatmulExtras,
  type MatmulShape,
  type MatmulVariant,
} from "../matmul-variants.ts";
import { NO_ANSWERS } from "../later-pipelines.ts";
import type { ProductBuffers } from "../model-buffers.ts";
import { layoutConstants } from "../matrix-layout.ts";
import { ChorusError } from "../../../protocol/errors.ts";
import { strideOf } from "../padding.ts";
import { answersOfProduct, type TriedProduct } from "../same-product.ts";
import { always, valueOf, type CompiledOperation, type OperationContext, type Operations } from "./operations.ts";

/** A product y = x W, with its norm and epilogue in the same kernel. */
interface Product {
  readonly label: string;
  readonly weights: ProductBuffers;
  /** One of Epilogue. */
  readonly epilogue: number;
  readonly x: GPUBuffer;
  readonly y: TriedProduct["y"];
  /** The kernels that can serve steps of all sizes until others are compiled, the best first. */
  readonly firsts: readonly MatmulVariant[];
  /** One bind group for all other kernels, which have the same bindings. */
  readonly bindGroup: GPUBindGroup;
  /** Makes the bind group, for the product's shape, of a first kernel that is none of the others. */
  readonly bindFirst?: (shape: MatmulShape) => GPUBindGroup;
  readonly extras: MatmulExtras;
  /** For kernels of many rows: the norm as a dispatch of its own, and the bind group for what it writes. */
  readonly ownNorm?: { readonly bindGroup: GPUBindGroup; readonly dispatch: () => Promise<Dispatch> } | undefined;
  /** Whether it has one row per sample, not one per row of the step. [false] */
  readonly samplesOnly?: boolean;
  /** The stride of y over 4. */
  readonly Y4: number;
}

/** Multiplies by the kernel for the step's number of rows, or by another one until that is compiled. The bits are the same. */
export async function compileProduct(context: OperationContext, product: Product): Promise<CompiledOperation> {
  const { compiler, later, matmuls } = context;
  const { label: name, bindGroup, x, y, firsts, epilogue, extras, ownNorm, samplesOnly = false } = product;
  const { K4, N4, layout } = product.weights;
  const shape: MatmulShape = {
    K4,
    N4,
    Y4: product.Y4,
    SAMPLES_ONLY: samplesOnly,
    EPILOGUE: epilogue,
    ...layoutConstants(layout),
  };
  const head = extras.head ? { ...extras.head, logitParts: context.activations.logitParts } : null;
  const height = (size: StepSize) => (samplesOnly ? size.samples : size.rows);
  const dispatchOf = (variant: MatmulVariant, pipeline: GPUComputePipeline, bound: GPUBindGroup): Dispatch => ({
    name,
    pipeline,
    bindGroup: bound,
    workgroups: (size: StepSize) => variant.workgroups(shape, height(size)),
  });
  // Before the first wait: when a load fails meanwhile, its buffers are freed, and none may be made after that.
  const bindGroupOfFirst = product.bindFirst?.(shape) ?? bindGroup;
  const { first, pipeline: compiled } = await firstTaken(firsts, (one) => compiler.compile(one.kernel(shape, extras)));
  const ofFirst = [dispatchOf(first, compiled, matmuls.includes(first) ? bindGroup : bindGroupOfFirst)];
  // By ascending rows; undefined until compiled.
  const ready = matmuls.map((): readonly Dispatch[] | undefined => undefined);
  let isFirstRight = true;
  let standIn: readonly Dispatch[] = ofFirst;
  for (const [i, variant] of matmuls.entries()) {
    if (variant === first) continue;
    const own = isNormApart(variant) ? ownNorm : undefined;
    const dispatches = async (pipeline: GPUComputePipeline) => [
      ...(own ? [await own.dispatch()] : []),
      dispatchOf(variant, pipeline, own?.bindGroup ?? bindGroup),
    ];
    const kernel = variant.kernel(shape, own ? { ...extras, norm: null } : extras);
    const added = later.add(kernel, variant.rank, async (pipeline) => {
      const tried = await dispatches(pipeline);
      if (later.isStopped) return NO_ANSWERS;
      return answersOfProduct(context, { shape, x, y, head }, [
        { variant: first, dispatches: ofFirst },
        { variant, dispatches: tried },
      ]);
    });
    const use = async (pipeline: GPUComputePipeline | null) => {
      if (pipeline) ready[i] = await dispatches(pipeline);
    };
    // If a kernel is refused, others take its place.
    added.ready.then(use, () => undefined);
    added.onChange(({ known, given }) => {
      if (given) ready[i] = undefined;
      isFirstRight &&= !known;
      if (isFirstRight) return;
      if (matmuls.includes(first)) ready[matmuls.indexOf(first)] = undefined;
      standIn = ready.findLast((one) => one !== undefined) ?? standIn;
    });
  }
  if (matmuls.includes(first)) ready[matmuls.indexOf(first)] = ofFirst;
  return (size) => {
    const rows = height(size);
    for (let i = 0; i < matmuls.length; i++) {
      const dispatches = ready[i];
      if (dispatches && rows <= (matmuls[i]?.maxRows ?? 0)) return dispatches;
    }
    return standIn;
  };
}

/** Compiles the first of these kernels that the adapter takes. @throws the last one's error */
async function firstTaken(
  variants: readonly MatmulVariant[],
  compile: (variant: MatmulVariant) => Promise<GPUComputePipeline>,
) {
  let refusal: unknown = new RangeError("no kernel for products");
  for (const first of variants) {
    try {
      return { first, pipeline: await compile(first) };
    } catch (error) {
      if (!(error instanceof ChorusError && error.code === "kernel_refused")) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

/** A product in the graph; each kernel style binds and compiles it in its own way. */
export interface ProductOfGraph extends Pick<Product, "label" | "weights" | "epilogue" | "y" | "samplesOnly" | "Y4"> {
  readonly input: Value;
  /** Only for the model's head. */
  readonly head?: HeadShape;
}

/** Returns what the kernels of the fused style bind, but for x. @param norm the one that they compute before the product */
export function fusedBuffers(
  { buffers, activations, step }: Pick<OperationContext, "buffers" | "activations" | "step">,
  { weights: { w, bias }, y }: Pick<ProductOfGraph, "weights" | "y">,
  norm: Norm | null,
) {
  const gammaAndBeta = norm ? buffers.rows(norm.norm) : bias;
  const [samples, logit_parts] = [step.samples, activations.logitParts];
  return { w, bias, norm: gammaAndBeta, samples, y, logit_parts, step: step.step };
}

/** Returns the operations that are products. Each part of a matrix writes its own columns of the output. */
export function productOperations(
  context: OperationContext,
  headEpilogue: number,
  product: (product: ProductOfGraph) => Promise<CompiledOperation>,
): Pick<Operations, "linear" | "gate" | "head"> {
  const { shape, vocabSize, buffers, activations, integerMatmuls } = context;
  const compile = (
    { label, input }: LinearOperation | Gate | Head,
    parts: readonly Omit<ProductOfGraph, "label" | "input">[],
  ) => {
    const isInteger = ({ weights }: (typeof parts)[number]) => integerMatmuls && typeof weights.layout !== "string";
    return Promise.all([
      ...(parts.some(isInteger) ? [quantisation(context, label, input)] : []),
      ...parts.map((part) =>
        isInteger(part) ? integerProduct(context, { label, input, ...part }) : product({ label, input, ...part }),
      ),
    ]);
  };
  return {
    linear: (operation) => compile(operation, productsOfLinear(context, operation)),
    gate: (operation) => compile(operation, productsOfGate(context, operation)),
    head: async (operation) => {
      const Y4 = strideOf(shape.vocabSize) / 4;
      const parts = buffers.product(operation.table).map((weights) => {
        const y = { buffer: activations.logits, offset: 4 * weights.firstOutput };
        const head = { VOCABULARY: vocabSize, FIRST_TOKEN: weights.firstOutput };
        return { weights, y, epilogue: headEpilogue, samplesOnly: true, Y4, head };
      });
      const products = await compile(operation, parts);
      return operation.cap ? [...products, await logitCap(context, operation.cap)] : products;
    },
  };
}

const CAP_LANES = 64;

async function logitCap({ compiler, activations, shape }: OperationContext, CAP: number): Promise<CompiledOperation> {
  const STRIDE = strideOf(shape.vocabSize);
  return always(
    await compiler.dispatch({
      name: "cap of logits",
      kernel: capLogits,
      constants: { LANES: CAP_LANES, STRIDE, CAP },
      buffers: { logits: activations.logits },
      workgroups: ({ samples }) => [Math.ceil(STRIDE / CAP_LANES), samples],
    }),
  );
}

const QUANTISE_LANES = 32;

/** Writes the rows of a value in integers, for the products after it. */
async function quantisation(context: OperationContext, label: string, input: Value): Promise<CompiledOperation> {
  const { compiler, activations } = context;
  const { width, height } = valueOf(context, input);
  const K4 = strideOf(width) / 4;
  return always(
    await compiler.dispatch({
      name: `${label} integers`,
      kernel: quantiseRows,
      constants: { K4, LANES: QUANTISE_LANES },
      buffers: { x: activations.buffer(input), y: activations.quantised },
      workgroups: ({ samples, rows }) => [Math.ceil(K4 / 8 / QUANTISE_LANES), height === "samples" ? samples : rows],
    }),
  );
}

/** Multiplies packed weights with the rows in integers. */
function integerProduct(context: OperationContext, product: ProductOfGraph): Promise<CompiledOperation> {
  const { compiler, activations, step, integerMatmuls } = context;
  const { w, bias } = product.weights;
  const matmuls = integerMatmuls ?? [];
  const x = activations.quantised;
  const bindGroup = compiler.bind(matmulInteger, { x, w, bias, y: product.y, step: step.step });
  return compileProduct(
    { ...context, matmuls },
    { ...product, x, firsts: matmuls.toReversed(), bindGroup, extras: {} },
  );
}

/** Returns a linear's products, one for each part of its matrix. */
export function productsOfLinear(
  { buffers, activations }: Pick<OperationContext, "buffers" | "activations">,
  operation: LinearOperation,
) {
  const { linear, output } = operation;
  const epilogue = Epilogue[linearEpilogue(operation)];
  const Y4 = strideOf(linear.matrix.outputs) / 4;
  return buffers.product(linear).map((weights) => {
    const y = { buffer: activations.buffer(output), offset: 4 * weights.firstOutput };
    return { weights, y, epilogue, Y4 };
  });
}

/** Returns a gate's products, one for each part of its matrix. */
export function productsOfGate(
  { buffers, activations }: Pick<OperationContext, "buffers" | "activations">,
  operation: Gate,
) {
  const epilogue = Epilogue[gateEpilogue(operation.activation)];
  const Y4 = strideOf(operation.gate.matrix.outputs) / 4;
  return buffers.product(operation.gate).map((weights) => {
    const y = { buffer: activations.buffer(operation.output), offset: 2 * weights.firstOutput };
    return { weights, y, epilogue, Y4 };
  });
}
