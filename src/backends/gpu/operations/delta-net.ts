import type { DeltaNet, OutputGate } from "../../../models/graph.ts";
import { deltaNetConstants, type StateLanes } from "../kernels/delta-net.ts";
import { deltaConv, deltaRule, gatedNorm, outputGate } from "../kernels/kernels.ts";
import { ofLayer } from "../model-buffers.ts";
import { strideOf } from "../padding.ts";
import { always, valueOf, type CompiledOperation, type OperationContext } from "./operations.ts";

const LANES = 64;

/** Convolves, lets each row change its sequence's state, and normalises what the rows read from it. */
export async function deltaNet(
  { compiler, buffers, activations, step }: OperationContext,
  operation: DeltaNet,
  lanes: StateLanes,
): Promise<CompiledOperation> {
  const { label, valueHeads, valueDim, norm } = operation;
  const { ofConv, ofRule, ofNorm } = deltaNetConstants(operation, lanes);
  if (step.states === null) throw new Error("a delta net in a model without states");
  const { sequences, kept } = step.states;
  const x = activations.buffer(operation.input);
  const y = activations.buffer(operation.output);
  const states = ofLayer(buffers.states, operation.layer);
  const [weights, rates] = [buffers.rows(operation.kernel), buffers.rows(operation.rate.weight)];
  const bound = { x, y, sequences, kept, states, step: step.step };
  return always(
    await compiler.dispatch({
      name: label,
      kernel: deltaConv,
      constants: ofConv,
      buffers: { ...bound, weights, rates },
      workgroups: (size) => [Math.ceil((ofConv.WIDTH + 2 * valueHeads) / ofConv.LANES), size.sequences],
    }),
    await compiler.dispatch({
      name: `${label} state`,
      kernel: deltaRule,
      constants: ofRule,
      buffers: bound,
      workgroups: (size) => [Math.ceil(valueDim / lanes.COLUMNS), valueHeads, size.sequences],
    }),
    await compiler.dispatch({
      name: `${label} norm`,
      kernel: gatedNorm,
      constants: { ...ofNorm, EPSILON: norm.epsilon },
      buffers: { ...bound, norm: buffers.rows(norm) },
      workgroups: (size) => [valueHeads, size.rows],
    }),
  );
}

export async function gateOutput(context: OperationContext, operation: OutputGate): Promise<CompiledOperation> {
  const { compiler, activations, step } = context;
  const { width: WIDTH } = valueOf(context, operation.value);
  const GATES_STRIDE = strideOf(valueOf(context, operation.gates).width);
  const sizes = { LANES, WIDTH, FIRST: operation.firstColumn, GATES_STRIDE, Y_STRIDE: strideOf(WIDTH) };
  const [gates, y] = [activations.buffer(operation.gates), activations.buffer(operation.value)];
  return always(
    await compiler.dispatch({
      name: operation.label,
      kernel: outputGate,
      constants: sizes,
      buffers: { gates, y, step: step.step },
      workgroups: ({ rows }) => [Math.ceil(WIDTH / LANES), rows],
    }),
  );
}
