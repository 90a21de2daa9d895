import type { Norm } from "../../../models/graph.ts";
import { layerNorm } from "../kernels/kernels.ts";
import { normShape } from "../matmul-variants.ts";
import { strideOf } from "../padding.ts";
import type { Dispatch } from "../kernel.ts";
import { always, valueOf, type CompiledOperation, type ModelContext, type OperationContext } from "./operations.ts";

export async function normalisation(context: OperationContext, operation: Norm): Promise<CompiledOperation> {
  return always(await normDispatch(context, operation, context.activations.buffer(operation.output)));
}

/** Returns a norm's dispatch, which writes to `y`. */
export function normDispatch(context: Omit<ModelContext, "later">, operation: Norm, y: GPUBuffer): Promise<Dispatch> {
  const { compiler, buffers, activations, step } = context;
  const { label, norm, input, output, addsToOutput = false } = operation;
  const { width, height } = valueOf(context, output);
  const isOfSamples = height === "samples";
  const kind = { K4: strideOf(width) / 4, ADD_TO_OUTPUT: addsToOutput };
  const samples = isOfSamples ? step.samples : step.allRows;
  return compiler.dispatch({
    name: label,
    kernel: layerNorm,
    constants: { ...normShape(norm, width), ...kind },
    buffers: { x: activations.buffer(input), norm: buffers.rows(norm), samples, y },
    workgroups: (size) => [isOfSamples ? size.samples : size.rows, 1],
  });
}
