// Chooses an adapter's matmul kernels. The first load measures them on the model's own weights and stores the result.

import type { Norm, Value } from "../../models/graph.ts";
import type { Model } from "../../models/model.ts";
import { gateLayout, layoutsOf, type WeightLayout } from "../../models/weight-layouts.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import type { TuningStore } from "../backend.ts";
import { sizeOf, type Dispatch } from "./kernel.ts";
import { Epilogue } from "../epilogues.ts";
import { matmulSkinny } from "./kernels/kernels.ts";
import { isNormApart, normShape, type MatmulChoice, type MatmulShape, type MatmulVariant } from "./matmul-variants.ts";
import { layoutConstants } from "./matrix-layout.ts";
import type { ProductBuffers } from "./model-buffers.ts";
import { normDispatch } from "./operations/normalisation.ts";
import { valueOf, type ModelContext } from "./operations/operations.ts";
import { fusedBuffers, productsOfGate, productsOfLinear } from "./operations/products.ts";
import { timedMs, tune, type Tuned } from "./tuning.ts";

/** Returns the milliseconds of one product of `rows` rows. */
type Measure = (variant: MatmulVariant, rows: number) => Promise<number>;

/** Rows with which the variants without a limit of rows are measured. */
const MANY_ROWS = 64;

/** Returns the key of a measurement: adapter, model size and layouts of the weights. */
export function tuningKey(adapterName: string, model: Model, dtype: WeightsDtype): string {
  const { family, shape, graph } = model;
  const layouts = graph.operations.flatMap((operation) => {
    if (operation.type === "gate") return [gateLayout(model, operation, dtype)];
    return operation.type === "linear"
      ? layoutsOf(model, operation.linear.matrix, dtype).map((part) => part.layout)
      : [];
  });
  const names = [...new Set(layouts.map(nameOfLayout))].join(" and ");
  return `${adapterName}, ${family} ${shape.numLayers} x ${shape.hiddenSize}, ${names}`;
}

function nameOfLayout(layout: WeightLayout): string {
  if (typeof layout === "string") return layout;
  const { bits, group, block, hasMinimum, table } = layout;
  const more = [hasMinimum && " with minimums", table && ` as ${table}`].filter(Boolean).join("");
  return `${bits} bits by ${group} of ${block}${more}`;
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
  const { device, compiler, engine, activations, step } = model;
  const measured = widestProducts(model);
  const [first] = measured;
  if (first === undefined) throw new RangeError("a model without products");
  const { Y4, epilogue: EPILOGUE } = first;
  const { K4, N4, layout } = first.weights;
  const shape: MatmulShape = { K4, N4, Y4, SAMPLES_ONLY: false, EPILOGUE, ...layoutConstants(layout) };
  const norm = first.norm && normShape(first.norm.norm, valueOf(model, first.input).width);
  const bind = (isApart: boolean) =>
    measured.map((product) => {
      const x = isApart ? activations.normed : activations.buffer(product.norm?.input ?? product.input);
      return compiler.bind(matmulSkinny, { x, ...fusedBuffers(model, product, product.norm) });
    });
  return async (variant, maxRows) => {
    const isApart = norm !== null && isNormApart(variant);
    const bound = bind(isApart);
    const rows = Math.min(maxRows, engine.maxNumBatchedTokens);
    const kernel = variant.kernel(shape, { norm: isApart ? null : norm });
    return compiler.tryOut(kernel, async () => {
      const pipeline = await compiler.compile(kernel);
      step.writeRows(device.queue, rows);
      const dispatches: Dispatch[] = [];
      for (const [i, bindGroup] of bound.entries()) {
        const before = isApart && measured[i]?.norm;
        if (before) dispatches.push(await normDispatch(model, before, activations.normed));
        dispatches.push({ name: variant.name, pipeline, bindGroup, workgroups: () => variant.workgroups(shape, rows) });
      }
      return (await timedMs(model, dispatches, sizeOf(rows))) / bound.length;
    });
  };
}

interface MeasuredProduct {
  readonly weights: ProductBuffers;
  /** The norm that its kernel applies to the input. */
  readonly norm: Norm | null;
  readonly input: Value;
  readonly y: GPUBuffer | GPUBufferBinding;
  readonly epilogue: number;
  readonly Y4: number;
}

/** Returns the products with the most weights that have one shape and one layout. */
function widestProducts(model: TunedModel): readonly MeasuredProduct[] {
  const { graph } = model;
  const norms = new Map(graph.operations.flatMap((one) => (one.type === "norm" ? [[one.output, one] as const] : [])));
  const products = graph.operations.flatMap((operation): MeasuredProduct[] => {
    if (operation.type !== "linear" && operation.type !== "gate") return [];
    const { input } = operation;
    const before = { input, norm: norms.get(input) ?? null };
    if (operation.type === "gate") return productsOfGate(model, operation).map((part) => ({ ...before, ...part }));
    if (operation.addsToOutput) return [];
    return productsOfLinear(model, operation).map((part) => ({ ...before, ...part, epilogue: Epilogue.biasOnly }));
  });
  const size = ({ weights: { K4, N4 } }: MeasuredProduct) => K4 * N4;
  const most = Math.max(...products.map(size));
  const widest = products.filter((product) => size(product) === most);
  const pipelineOf = ({ epilogue, weights }: MeasuredProduct) => JSON.stringify([epilogue, weights.layout]);
  return widest.filter((product, _, [first]) => first && pipelineOf(product) === pipelineOf(first));
}
