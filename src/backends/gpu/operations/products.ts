import type { Activation, Linear } from "../../../models/graph.ts";
import type { Dispatch, StepSize } from "../kernel.ts";
import { Epilogue } from "../kernels/matmul.ts";
import type { MatmulExtras, MatmulShape } from "../matmul-variants.ts";
import type { LinearBuffers } from "../model-buffers.ts";
import { weightsDtypeCode } from "../weights-dtype.ts";
import type { CompiledOperation, OperationContext } from "./operations.ts";

/** A product y = x W, with what precedes and follows it in the same kernel. */
interface Product {
  readonly label: string;
  readonly weights: LinearBuffers;
  /** One of Epilogue. */
  readonly epilogue: number;
  /** One bind group for every kernel of the adapter: they have the same bindings. */
  readonly bindGroup: GPUBindGroup;
  readonly extras: MatmulExtras;
  /** One row per sample, not one per row of the step. [false] */
  readonly samplesOnly?: boolean;
  /** The stride of y over 4, where it is not that of the product. */
  readonly Y4?: number;
}

/** By the kernel for as many rows as the step has. */
export async function compileProduct(context: OperationContext, product: Product): Promise<CompiledOperation> {
  const { compiler, engine, matmuls } = context;
  const { label: name, bindGroup, epilogue, extras, samplesOnly = false } = product;
  const { K4, N4 } = product.weights;
  const shape: MatmulShape = {
    K4,
    N4,
    Y4: product.Y4 ?? N4,
    SAMPLES_ONLY: samplesOnly,
    WEIGHTS_DTYPE: weightsDtypeCode[engine.dtype],
    EPILOGUE: epilogue,
  };
  const height = (size: StepSize) => (samplesOnly ? size.samples : size.rows);
  const variants = await Promise.all(
    matmuls.map(async (variant): Promise<{ maxRows: number; dispatches: readonly Dispatch[] }> => {
      const pipeline = await variant.pipeline(compiler, shape, extras);
      const workgroups = (size: StepSize) => variant.workgroups(shape, height(size));
      return { maxRows: variant.maxRows, dispatches: [{ name, pipeline, bindGroup, workgroups }] };
    }),
  );
  return (size) => {
    const variant = variants.find(({ maxRows }) => height(size) <= maxRows);
    if (!variant) throw new Error(`no kernel for a product of ${height(size)} rows`);
    return variant.dispatches;
  };
}

const ACTIVATION_EPILOGUES: Readonly<Record<Activation, number>> = {
  gelu_tanh: Epilogue.geluTanh,
  gelu_erf: Epilogue.geluErf,
  silu: Epilogue.silu,
};

export function activationEpilogue(activation: Activation | null): number {
  return activation === null ? Epilogue.biasOnly : ACTIVATION_EPILOGUES[activation];
}

/** The two products of a gate, in order: the second multiplies what the first has written. */
export function productsOfGate(gate: { label: string; gate: Linear; up: Linear; activation: Activation }) {
  return [
    { label: `${gate.label} gate`, linear: gate.gate, epilogue: activationEpilogue(gate.activation) },
    { label: `${gate.label} up`, linear: gate.up, epilogue: Epilogue.multiplyOutput },
  ];
}
