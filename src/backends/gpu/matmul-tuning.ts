// Chooses an adapter's matmul kernels. The first load measures them on the model's own weights and stores the result.

import type { Norm, Value } from "../../models/graph.ts";
import type { Model } from "../../models/model.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import type { TuningStore } from "../backend.ts";
import { sizeOf, type Dispatch } from "./kernel.ts";
import { Epilogue, matmulSkinny } from "./kernels/matmul.ts";
import { isNormApart, normShape, type MatmulChoice, type MatmulShape, type MatmulVariant } from "./matmul-variants.ts";
import type { LinearBuffers } from "./model-buffers.ts";
import { normDispatch } from "./operations/normalisation.ts";
import { valueOf, type ModelContext } from "./operations/operations.ts";
import { productsOfGate } from "./operations/products.ts";
import { timedMs, tune, type Tuned } from "./tuning.ts";
import { weightsDtypeCode } from "./weights-dtype.ts";

/** Returns the milliseconds of one product of `rows` rows. */
type Measure = (variant: MatmulVariant, rows: number) => Promise<number>;

/** Rows with which the variants without a limit of rows are measured. */
const MANY_ROWS = 64;

/** Returns the key of a measurement: adapter, model size and dtype. */
export function tuningKey(adapterName: string, { family, shape }: Model, dtype: WeightsDtype): string {
  return `${adapterName}, ${family} ${shape.numLayers} x ${shape.hiddenSize}, ${dtype}`;
}

/** Returns the fastest variant of each class, from the store if it has the key. */
export function tuneMatmuls(
  choices: readonly MatmulChoice[],
  key: string,
  store: TuningStore,
  measure: Measure,
): Promise<Tuned<MatmulVariant>> {
  return tune(choices, key, store, (variant) => measure(variant, Math.min(variant.maxRows, MANY_ROWS)));
}

/** The parts of a loaded model that a measurement needs. */
type TunedModel = Omit<ModelContext, "later">;

/**
 * Returns a function that times the widest products with the norm before them, one layer after the other. A single
 * layer's weights would stay in the GPU's cache, which never happens in a step.
 */
export function measureOn(model: TunedModel): Measure {
  const { device, compiler, engine, buffers, activations, step } = model;
  const measured = widestProducts(model);
  const [first] = measured;
  if (first === undefined) throw new RangeError("a model without products");
  const { Y4, epilogue: EPILOGUE } = first;
  const { K4, N4 } = first.weights;
  const WEIGHTS_DTYPE = weightsDtypeCode[engine.dtype];
  const shape: MatmulShape = { K4, N4, Y4, SAMPLES_ONLY: false, WEIGHTS_DTYPE, EPILOGUE };
  const norm = first.norm && normShape(first.norm.norm, valueOf(model, first.input).width);
  const bind = (isApart: boolean) =>
    measured.map((product) => {
      const { w, bias } = product.weights;
      return compiler.bind(matmulSkinny, {
        x: isApart ? activations.normed : activations.buffer(product.norm?.input ?? product.input),
        w,
        bias,
        norm: product.norm ? buffers.norm(product.norm.norm) : bias,
        samples: step.samples,
        y: product.y,
        logit_parts: activations.logitParts,
        step: step.step,
      });
    });
  return async (variant, maxRows) => {
    const isApart = norm !== null && isNormApart(variant);
    const bound = bind(isApart);
    const rows = Math.min(maxRows, engine.maxNumBatchedTokens);
    const pipeline = await compiler.compile(variant.kernel(shape, { norm: isApart ? null : norm }));
    step.writeRows(device.queue, rows);
    const dispatches: Dispatch[] = [];
    for (const [i, bindGroup] of bound.entries()) {
      const before = isApart && measured[i]?.norm;
      if (before) dispatches.push(await normDispatch(model, before, activations.normed));
      dispatches.push({ name: variant.name, pipeline, bindGroup, workgroups: () => variant.workgroups(shape, rows) });
    }
    return (await timedMs(model, dispatches, sizeOf(rows))) / bound.length;
  };
}

interface MeasuredProduct {
  readonly weights: LinearBuffers;
  /** The norm that its kernel applies to the input. */
  readonly norm: Norm | null;
  readonly input: Value;
  readonly y: GPUBuffer | GPUBufferBinding;
  readonly epilogue: number;
  readonly Y4: number;
}

/** Returns the products with the most weights that have one shape. */
function widestProducts(model: TunedModel): readonly MeasuredProduct[] {
  const { graph, buffers, activations } = model;
  const norms = new Map(graph.operations.flatMap((one) => (one.type === "norm" ? [[one.output, one] as const] : [])));
  const products = graph.operations.flatMap((operation): MeasuredProduct[] => {
    if (operation.type !== "linear" && operation.type !== "gate") return [];
    const { input } = operation;
    const before = { input, norm: norms.get(input) ?? null };
    if (operation.type === "gate") return productsOfGate(model, operation).map((part) => ({ ...before, ...part }));
    if (operation.addsToOutput) return [];
    const weights = buffers.linear(operation.linear);
    const y = activations.buffer(operation.output);
    return [{ ...before, weights, y, epilogue: Epilogue.biasOnly, Y4: weights.N4 }];
  });
  const size = ({ weights: { K4, N4 } }: MeasuredProduct) => K4 * N4;
  const most = Math.max(...products.map(size));
  const widest = products.filter((product) => size(product) === most);
  return widest.filter(({ epilogue }) => epilogue === widest[0]?.epilogue);
}
