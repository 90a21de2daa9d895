import type { Activation, Gate } from "../../../models/graph.ts";
import type { Dispatch, StepSize } from "../kernel.ts";
import { Epilogue } from "../kernels/matmul.ts";
import type { MatmulExtras, MatmulShape } from "../matmul-variants.ts";
import type { LinearBuffers } from "../model-buffers.ts";
import { strideOf } from "../padding.ts";
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
  /** The stride of y over 4, where it is not N4. */
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

const GATE_EPILOGUES: Readonly<Record<Activation, number>> = {
  gelu_tanh: Epilogue.gegluTanh,
  gelu_erf: Epilogue.gegluErf,
  silu: Epilogue.swiglu,
};

/** Returns a gate's products, one for each part of its matrix: each writes its own columns of the output. */
export function productsOfGate(
  { buffers, activations }: Pick<OperationContext, "buffers" | "activations">,
  operation: Gate,
) {
  const epilogue = GATE_EPILOGUES[operation.activation];
  const Y4 = strideOf(operation.gate.matrix.outputs) / 4;
  return buffers.gate(operation).map((weights) => {
    const y = { buffer: activations.buffer(operation.output), offset: 2 * weights.firstRow };
    return { weights, y, epilogue, Y4 };
  });
}
