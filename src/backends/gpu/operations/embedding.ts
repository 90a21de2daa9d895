import type { Embed } from "../../../models/graph.ts";
import { embed } from "../kernels/kernels.ts";
import { layoutConstants } from "../matrix-layout.ts";
import { always, type CompiledOperation, type OperationContext } from "./operations.ts";

const LANES = 64;

/** Returns one dispatch for each part of the table: each handles the tokens that it contains. */
export function embedding(context: OperationContext, operation: Embed): Promise<CompiledOperation[]> {
  const { compiler, buffers, activations, step } = context;
  const x = activations.buffer(operation.output);
  const learned = operation.positions && buffers.rows(operation.positions);
  const kind = { LANES, SCALE: operation.scale, LEARNED_POSITIONS: learned !== null };
  return Promise.all(
    buffers.product(operation.table).map(async ({ w, layout, K4, N4, firstOutput: FIRST_TOKEN }) =>
      always(
        await compiler.dispatch({
          name: operation.label,
          kernel: embed,
          constants: { ...kind, K4, N4, FIRST_TOKEN, ...layoutConstants(layout) },
          buffers: { w, wpe: learned ?? w, rows: step.rows, feedback: activations.feedback, x },
          workgroups: (size) => [Math.ceil((4 * K4) / LANES), size.rows],
        }),
      ),
    ),
  );
}
