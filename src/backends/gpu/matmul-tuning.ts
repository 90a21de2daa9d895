// Which matmul kernels suit an adapter: measured on the model's own weights when it is first loaded there, and remembered.

import type { Linear, Norm, Operation, Value } from "../../models/graph.ts";
import type { Model } from "../../models/model.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import type { TuningStore } from "../backend.ts";
import { Epilogue, matmulSkinny } from "./kernels/matmul.ts";
import { normShape, type MatmulChoice, type MatmulShape, type MatmulVariant } from "./matmul-variants.ts";
import type { OperationContext } from "./operations/operations.ts";
import { weightsDtypeCode } from "./weights-dtype.ts";

/** Milliseconds of one product of `rows` rows. */
type Measure = (variant: MatmulVariant, rows: number) => Promise<number>;

/** Every candidate is measured once a round, so that a disturbance hits all alike; its best counts. */
const ROUNDS = 3;
/** Of steps without a limit to their rows. */
const MANY_ROWS = 64;
/** Long enough for a browser's clock, and for its habit of asking the GPU every other millisecond. */
const MIN_MEASURED_MS = 8;
const MAX_REPEATS = 256;

/** What is measured once: an adapter with a model of one size and dtype. */
export function tuningKey(adapterName: string, { family, shape }: Model, dtype: WeightsDtype): string {
  return `${adapterName}, ${family} ${shape.numLayers} x ${shape.hiddenSize}, ${dtype}`;
}

/** The fastest of each class. What was chosen before under the same key is taken as it is. */
export async function tuneMatmuls(
  choices: readonly MatmulChoice[],
  key: string,
  store: TuningStore,
  measure: Measure,
): Promise<readonly MatmulVariant[]> {
  if (choices.every(({ length }) => length === 1)) return choices.map(([only]) => only);
  // A store that can't be read or written (a private window) costs the time of measuring again.
  const known = await store.load(key).catch(() => undefined);
  const remembered = choices.map((choice, i) => choice.find(({ name }) => name === known?.[i]));
  if (remembered.every((variant) => variant !== undefined)) return remembered;
  const chosen: MatmulVariant[] = [];
  for (const choice of choices) chosen.push(await fastestOf(choice, measure));
  await store
    .save(
      key,
      chosen.map(({ name }) => name),
    )
    .catch(() => undefined);
  return chosen;
}

async function fastestOf(choice: MatmulChoice, measure: Measure): Promise<MatmulVariant> {
  const best = new Map<MatmulVariant, number>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const variant of choice) {
      const ms = await measure(variant, Math.min(variant.maxRows, MANY_ROWS));
      best.set(variant, Math.min(ms, best.get(variant) ?? Infinity));
    }
  }
  const fastest = Math.min(...best.values());
  return choice.find((variant) => best.get(variant) === fastest) ?? choice[0];
}

/** What measuring takes of a model that is loaded. */
export type TunedModel = Omit<OperationContext, "matmuls"> & { readonly device: GPUDevice };

/**
 * Measures the widest product of a layer, with the norm before it: of one layer after the other, since a single one's
 * weights would stay in the GPU's cache as they never do in a step.
 */
export function measureOn(model: TunedModel): Measure {
  const { device, compiler, engine, buffers, activations, step } = model;
  const measured = widestProducts(model.graph.operations);
  const [first] = measured;
  if (first === undefined) throw new RangeError("a model without products");
  const { K4, N4 } = buffers.linear(first.linear);
  const WEIGHTS_DTYPE = weightsDtypeCode[engine.dtype];
  const shape: MatmulShape = { K4, N4, Y4: N4, SAMPLES_ONLY: false, WEIGHTS_DTYPE, EPILOGUE: Epilogue.biasOnly };
  const norm = first.norm && normShape(first.norm.norm, first.linear.matrix.inputs);
  // Not before something is measured: where nothing is, the kernels are not those that are bound here.
  let bindGroups: readonly GPUBindGroup[] | null = null;
  const bind = () =>
    measured.map((product) => {
      const { w, bias } = buffers.linear(product.linear);
      return compiler.bind(matmulSkinny, {
        x: activations.buffer(product.norm?.input ?? product.input),
        w,
        bias,
        norm: product.norm ? buffers.norm(product.norm.norm) : bias,
        samples: step.samples,
        y: activations.buffer(product.output),
        logit_parts: activations.logitParts,
        step: step.step,
      });
    });
  return async (variant, wantedRows) => {
    const bound = (bindGroups ??= bind());
    const rows = Math.min(wantedRows, engine.maxNumBatchedTokens);
    const pipeline = await variant.pipeline(compiler, shape, { norm });
    step.writeRows(device.queue, rows);
    const run = async (repeats: number) => {
      const startMs = performance.now();
      const encoder = device.createCommandEncoder({ label: "tuning" });
      const pass = encoder.beginComputePass({ label: "tuning" });
      pass.setPipeline(pipeline);
      for (let i = 0; i < repeats; i++) {
        for (const bindGroup of bound) {
          pass.setBindGroup(0, bindGroup);
          pass.dispatchWorkgroups(...variant.workgroups(shape, rows));
        }
      }
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      return performance.now() - startMs;
    };
    await run(1); // what a kernel does once, when it first runs
    for (let repeats = 1; ; repeats *= 4) {
      const ms = await run(repeats);
      if (ms >= MIN_MEASURED_MS || repeats >= MAX_REPEATS) return ms / (repeats * bound.length);
    }
  };
}

interface MeasuredProduct {
  readonly linear: Linear;
  /** What its kernel normalises on the way. */
  readonly norm: Norm | null;
  readonly input: Value;
  readonly output: Value;
}

/** The widest products of the layers: those with the most weights, of one shape. */
function widestProducts(operations: readonly Operation[]): readonly MeasuredProduct[] {
  const norms = new Map(operations.flatMap((one) => (one.type === "norm" ? [[one.output, one] as const] : [])));
  const products = operations.flatMap((operation): MeasuredProduct[] => {
    if (operation.type !== "linear" && operation.type !== "gate") return [];
    if (operation.type === "linear" && operation.addsToOutput) return [];
    const { input, output } = operation;
    const linear = operation.type === "gate" ? operation.up : operation.linear;
    return [{ linear, norm: norms.get(input) ?? null, input, output }];
  });
  const size = ({ linear: { matrix } }: MeasuredProduct) => matrix.inputs * matrix.outputs;
  const most = Math.max(...products.map(size));
  return products.filter((product) => size(product) === most);
}
