import type { Attention } from "../../../models/graph.ts";
import type { Dispatch } from "../kernel.ts";
import { attentionQuad, quadShares } from "../kernels/attention.ts";
import { strideOf } from "../padding.ts";
import { boundBuffers, cacheWriteDispatch, windowOf, withTiles } from "./attention.ts";
import { always, cacheConstants, type CompiledOperation, type OperationContext } from "./operations.ts";

/** By quads of lanes, which find all they read in the cache; prompts in tiles of rows. */
export async function quadAttention(context: OperationContext, operation: Attention): Promise<CompiledOperation> {
  const { rows } = context.step.tiles;
  const [write, single, tiled] = await Promise.all([
    cacheWriteDispatch(context, operation),
    quadDispatch(context, operation, 1),
    rows > 1 ? quadDispatch(context, operation, rows) : null,
  ]);
  return withTiles(always(write, single), tiled ? [write, tiled] : [], single);
}

/** @param tileRows most rows of a span; of several a quad takes one head, else as many heads as it can */
async function quadDispatch(context: OperationContext, operation: Attention, tileRows: number): Promise<Dispatch> {
  const { compiler, shape } = context;
  const { numHeads, numKvHeads, headDim } = shape;
  const scores = { SCALE: operation.scale, WINDOW: windowOf(operation) };
  const { workgroups, ...shares } = quadShares(numHeads, numKvHeads, tileRows > 1 ? 1 : undefined);
  const constants = { ...cacheConstants(context), ...scores, ...shares, ROWS: tileRows };
  return {
    name: tileRows > 1 ? `${operation.label} in tiles` : operation.label,
    pipeline: await compiler.pipeline(attentionQuad, { ...constants, Y_STRIDE: strideOf(numHeads * headDim) }),
    bindGroup: compiler.bind(attentionQuad, boundBuffers(context, operation)),
    workgroups: (size) => [workgroups, tileRows > 1 ? size.tiles : size.singles],
  };
}
