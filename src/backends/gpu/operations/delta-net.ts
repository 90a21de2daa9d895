import type { DeltaNet, OutputGate } from "../../../models/graph.ts";
import {
  deltaConv,
  deltaNetConstants,
  deltaRule,
  gatedNorm,
  outputGate,
  type StateLanes,
} from "../kernels/delta-net.ts";
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
  const { weights, rates, states } = buffers.deltaNet(operation);
  const bound = { x, y, sequences, kept, states, step: step.step };
  return always(
    {
      name: label,
      pipeline: await compiler.pipeline(deltaConv, ofConv),
      bindGroup: compiler.bind(deltaConv, { ...bound, weights, rates }),
      workgroups: (size) => [Math.ceil((ofConv.WIDTH + 2 * valueHeads) / ofConv.LANES), size.sequences],
    },
    {
      name: `${label} state`,
      pipeline: await compiler.pipeline(deltaRule, ofRule),
      bindGroup: compiler.bind(deltaRule, bound),
      workgroups: (size) => [Math.ceil(valueDim / lanes.COLUMNS), valueHeads, size.sequences],
    },
    {
      name: `${label} norm`,
      pipeline: await compiler.pipeline(gatedNorm, { ...ofNorm, EPSILON: norm.epsilon }),
      bindGroup: compiler.bind(gatedNorm, { ...bound, norm: buffers.norm(norm) }),
      workgroups: (size) => [valueHeads, size.rows],
    },
  );
}

export async function gateOutput(context: OperationContext, operation: OutputGate): Promise<CompiledOperation> {
  const { compiler, activations, step } = context;
  const { width: WIDTH } = valueOf(context, operation.value);
  const GATES_STRIDE = strideOf(valueOf(context, operation.gates).width);
  const sizes = { LANES, WIDTH, FIRST: operation.firstColumn, GATES_STRIDE, Y_STRIDE: strideOf(WIDTH) };
  return always({
    name: operation.label,
    pipeline: await compiler.pipeline(outputGate, sizes),
    bindGroup: compiler.bind(outputGate, {
      gates: activations.buffer(operation.gates),
      y: activations.buffer(operation.value),
      step: step.step,
    }),
    workgroups: ({ rows }) => [Math.ceil(WIDTH / LANES), rows],
  });
}
