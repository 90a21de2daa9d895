import type { Attention } from "../../../models/graph.ts";
import { variantOf } from "../kernel.ts";
import { quadShares } from "../kernels/attention.ts";
import { attentionQuad } from "../kernels/kernels.ts";
import { strideOf } from "../padding.ts";
import { cacheWriteDispatch, scoreConstants, singleRows, withTiles, type AttentionKernel } from "./attention-rows.ts";
import {
  always,
  cacheConstants,
  type CompiledOperation,
  type ModelContext,
  type OperationContext,
} from "./operations.ts";

/** Attends by quads of lanes, which read only the cache; prompts in tiles of rows. */
export async function quadAttention(context: OperationContext, operation: Attention): Promise<CompiledOperation> {
  const kernel = quads(context, operation);
  const [write, single] = await Promise.all([
    cacheWriteDispatch(context, operation),
    singleRows(context, operation, kernel),
  ]);
  return withTiles(context, operation, { kernel, single, others: always(write, single) });
}

/** Returns the kernel by quads: in a tile a quad has one head, else as many heads as it can. */
function quads(context: ModelContext, operation: Attention): AttentionKernel {
  const { compiler, shape } = context;
  const { numHeads, numKvHeads, headDim } = shape;
  const constants = { ...cacheConstants(context), ...scoreConstants(operation) };
  const sharesOf = (tileRows: number) => quadShares(numHeads, numKvHeads, tileRows > 1 ? 1 : undefined);
  return {
    variant(ROWS) {
      const { QUERIES, LANES } = sharesOf(ROWS);
      return variantOf(attentionQuad, { ...constants, QUERIES, LANES, ROWS, Y_STRIDE: strideOf(numHeads * headDim) });
    },
    dispatch(tileRows, pipeline, buffers) {
      const { workgroups } = sharesOf(tileRows);
      return {
        name: tileRows > 1 ? `${operation.label} in tiles` : operation.label,
        pipeline,
        bindGroup: compiler.bind(attentionQuad, buffers),
        workgroups: (size) => [workgroups, tileRows > 1 ? size.tiles : size.singles],
      };
    },
  };
}
