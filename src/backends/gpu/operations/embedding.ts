import type { Embed } from "../../../models/graph.ts";
import { embed } from "../kernels/embed.ts";
import { layoutConstants } from "../matrix-layout.ts";
import { always, type CompiledOperation, type OperationContext } from "./operations.ts";

const LANES = 64;

/** Returns one dispatch for each part of the table: each handles the tokens that it contains. */
export function embedding(context: OperationContext, operation: Embed): Promise<CompiledOperation[]> {
  const { compiler, buffers, activations, step } = context;
  const x = activations.buffer(operation.output);
  const learned = operation.positions && buffers.positions(operation.positions);
  return Promise.all(
    buffers.table(operation.table).map(async ({ w, layout, K4, N4, firstOutput: FIRST_TOKEN }) => {
      const kind = { ...layoutConstants(layout), SCALE: operation.scale, LEARNED_POSITIONS: learned !== null };
      return always({
        name: operation.label,
        pipeline: await compiler.pipeline(embed, { LANES, K4, N4, FIRST_TOKEN, ...kind }),
        bindGroup: compiler.bind(embed, {
          w,
          wpe: learned ?? w,
          rows: step.rows,
          feedback: activations.feedback,
          x,
        }),
        workgroups: (size) => [Math.ceil((4 * K4) / LANES), size.rows],
      });
    }),
  );
}
