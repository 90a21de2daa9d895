import { maxSequenceLength } from "../../../engine/scheduling/admission.ts";
import type { Attention } from "../../../models/graph.ts";
import { variantOf, type Dispatch } from "../kernel.ts";
import {
  attention,
  attentionMerge,
  attentionTile,
  isSplit,
  maxSplits,
  sharedQueries,
  splitsSeen,
} from "../kernels/attention.ts";
import { strideOf } from "../padding.ts";
import { boundBuffers, singleRows, windowOf, withTiles, type AttentionKernel } from "./attention-rows.ts";
import {
  always,
  cacheConstants,
  type CompiledOperation,
  type ModelContext,
  type OperationContext,
} from "./operations.ts";

const MERGE_LANES = 64;

/** Attends by one workgroup per row and head; prompts in tiles of rows. */
export async function attentionAlone(context: OperationContext, operation: Attention): Promise<CompiledOperation> {
  const kernel = wholeAttention(context, operation);
  const single = await singleRows(context, operation, kernel);
  return withTiles(context, operation, { kernel, single, others: always(single) });
}

/** Attends like attentionAlone, or in splits that workgroups share, if rows are few and a context is long. */
export async function splitAttention(context: OperationContext, operation: Attention): Promise<CompiledOperation> {
  const kernel = wholeAttention(context, operation);
  const [single, splits] = await Promise.all([
    singleRows(context, operation, kernel),
    splitDispatches(context, operation),
  ]);
  const window = windowOf(operation);
  const whole = [single];
  const others: CompiledOperation = ({ rows, longest }) =>
    splits && isSplit(rows, Math.min(window, longest)) ? splits : whole;
  return withTiles(context, operation, { kernel, single, others });
}

/** Returns the kernel of one workgroup per span and heads that share keys and values. */
export function wholeAttention(context: ModelContext, operation: Attention): AttentionKernel {
  const constants = constantsOf(context, operation);
  const queries = (tileRows: number) => (tileRows > 1 ? 1 : constants.QUERIES);
  return {
    variant: (ROWS) => variantOf(attention, { ...constants, ROWS, QUERIES: queries(ROWS), ALONE: true }),
    dispatch: (tileRows, pipeline, buffers) => ({
      name: tileRows > 1 ? `${operation.label} in tiles` : operation.label,
      pipeline,
      bindGroup: context.compiler.bind(attention, buffers),
      workgroups: (size) => [constants.HEADS / queries(tileRows), tileRows > 1 ? size.tiles : size.singles],
    }),
  };
}

/** Returns the dispatches of attention in splits; null if no sequence can be long enough. */
async function splitDispatches(
  context: ModelContext,
  operation: Attention,
): Promise<readonly [Dispatch, Dispatch] | null> {
  const { compiler, engine, activations, step } = context;
  const window = windowOf(operation);
  if (!isSplit(1, Math.min(window, maxSequenceLength(engine)))) return null;
  const constants = constantsOf(context, operation);
  const numShares = constants.HEADS / constants.QUERIES;
  const { SPLIT, MAX_SPLITS, WINDOW, HEADS, HEAD_SIZE, HEAD_VEC4, Y_STRIDE } = constants;
  const merged = { SPLIT, MAX_SPLITS, WINDOW, HEADS, HEAD_SIZE, HEAD_VEC4, Y_STRIDE, LANES: MERGE_LANES };
  const [inSplits, merge] = await Promise.all([
    compiler.pipeline(attention, { ...constants, ROWS: 1, ALONE: false }),
    compiler.pipeline(attentionMerge, merged),
  ]);
  const parts = activations.attentionParts;
  const split: Dispatch = {
    name: `${operation.label} in splits`,
    pipeline: inSplits,
    bindGroup: compiler.bind(attention, { ...boundBuffers(context, operation), y: parts }),
    workgroups: (size) => [numShares, size.rows, splitsSeen(Math.min(window, size.longest), size.longest, SPLIT)],
  };
  const join: Dispatch = {
    name: operation.label,
    pipeline: merge,
    bindGroup: compiler.bind(attentionMerge, { parts, rows: step.rows, y: activations.buffer(operation.output) }),
    workgroups: (size) => [Math.ceil((HEADS * HEAD_VEC4) / MERGE_LANES), size.rows],
  };
  return [split, join];
}

function constantsOf(context: ModelContext, operation: Attention) {
  const cache = cacheConstants(context);
  const MAX_SPLITS = maxSplits(cache.HEAD_VEC4, maxSequenceLength(context.engine));
  const Y_STRIDE = strideOf(cache.HEADS * cache.HEAD_SIZE);
  const scores = { SCALE: operation.scale, WINDOW: windowOf(operation) };
  const QUERIES = sharedQueries(cache.HEADS, cache.KV_HEADS, cache.HEAD_VEC4);
  return { ...cache, QUERIES, ...attentionTile(cache.HEAD_VEC4), MAX_SPLITS, Y_STRIDE, ...scores };
}
