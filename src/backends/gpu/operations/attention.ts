import { maxSequenceLength } from "../../../engine/scheduling/admission.ts";
import type { Attention } from "../../../models/graph.ts";
import type { Dispatch, KernelBuffers } from "../kernel.ts";
import {
  attention,
  attentionMerge,
  attentionTile,
  cacheWrite,
  isSplit,
  maxSplits,
  sharedQueries,
  splitsSeen,
  UNLIMITED_WINDOW,
} from "../kernels/attention.ts";
import { strideOf } from "../padding.ts";
import { always, cacheConstants, type CompiledOperation, type OperationContext } from "./operations.ts";

const MERGE_LANES = 64;
const CACHE_WRITE_LANES = 64;

/** By one workgroup a row and head; prompts in tiles of rows. */
export async function attentionAlone(context: OperationContext, operation: Attention): Promise<CompiledOperation> {
  const whole = await wholeDispatch(context, operation, 1);
  return withTiles(always(whole), await tileDispatches(context, operation), whole);
}

/** The same, or in splits that workgroups share, where rows are few and a context is long. */
export async function splitAttention(context: OperationContext, operation: Attention): Promise<CompiledOperation> {
  const [whole, tiles] = await Promise.all([wholeDispatch(context, operation, 1), tileDispatches(context, operation)]);
  return withTiles(await wholeOrSplit(context, operation, whole), tiles, whole);
}

/** Takes a step that has tiles by these, and its other rows one by one; a step without as `others` do. */
export function withTiles(others: CompiledOperation, tiles: readonly Dispatch[], single: Dispatch): CompiledOperation {
  const mixed = [...tiles, single];
  return (size) => {
    if (size.tiles === 0) return others(size);
    return size.singles === 0 ? tiles : mixed;
  };
}

/** Writes the cache, then attends by it alone. None where this adapter has no tiles. */
async function tileDispatches(context: OperationContext, operation: Attention): Promise<readonly Dispatch[]> {
  const { rows } = context.step.tiles;
  if (rows === 1) return [];
  return Promise.all([cacheWriteDispatch(context, operation), wholeDispatch(context, operation, rows)]);
}

/** Writes the keys and values of all rows to the cache. */
export async function cacheWriteDispatch(context: OperationContext, operation: Attention): Promise<Dispatch> {
  const { compiler } = context;
  const constants = cacheConstants(context);
  const numLanes = constants.KV_HEADS * constants.HEAD_VEC4;
  return {
    name: `${operation.label}: cache write`,
    pipeline: await compiler.pipeline(cacheWrite, { ...constants, LANES: CACHE_WRITE_LANES }),
    bindGroup: compiler.bind(cacheWrite, boundBuffers(context, operation)),
    workgroups: (size) => [Math.ceil(numLanes / CACHE_WRITE_LANES), size.rows],
  };
}

async function wholeOrSplit(
  context: OperationContext,
  operation: Attention,
  whole: Dispatch,
): Promise<CompiledOperation> {
  const { compiler, engine, activations, step } = context;
  const window = windowOf(operation);
  if (!isSplit(1, Math.min(window, maxSequenceLength(engine)))) return always(whole);
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
  const [together, apart] = [[whole], [split, join]];
  return (size) => (isSplit(size.rows, Math.min(window, size.longest)) ? apart : together);
}

/** By one workgroup a span and heads that share keys and values. @param tileRows most rows of a span */
async function wholeDispatch(context: OperationContext, operation: Attention, tileRows: number): Promise<Dispatch> {
  const constants = constantsOf(context, operation);
  const QUERIES = tileRows > 1 ? 1 : constants.QUERIES;
  return {
    name: tileRows > 1 ? `${operation.label} in tiles` : operation.label,
    pipeline: await context.compiler.pipeline(attention, { ...constants, ROWS: tileRows, QUERIES, ALONE: true }),
    bindGroup: context.compiler.bind(attention, boundBuffers(context, operation)),
    workgroups: (size) => [constants.HEADS / QUERIES, tileRows > 1 ? size.tiles : size.singles],
  };
}

function constantsOf(context: OperationContext, operation: Attention) {
  const cache = cacheConstants(context);
  const MAX_SPLITS = maxSplits(cache.HEAD_VEC4, maxSequenceLength(context.engine));
  const Y_STRIDE = strideOf(cache.HEADS * cache.HEAD_SIZE);
  const scores = { SCALE: operation.scale, WINDOW: windowOf(operation) };
  const QUERIES = sharedQueries(cache.HEADS, cache.KV_HEADS, cache.HEAD_VEC4);
  return { ...cache, QUERIES, ...attentionTile(cache.HEAD_VEC4), MAX_SPLITS, Y_STRIDE, ...scores };
}

/** Positions that a row sees, its own included. */
export function windowOf({ window }: Attention): number {
  return window ?? UNLIMITED_WINDOW;
}

/** The buffers of a layer's attention, by the names that its kernels have for them. */
export function boundBuffers(
  { buffers, activations, step }: OperationContext,
  { layer, input, output }: Attention,
): KernelBuffers<typeof attention> {
  const cache = buffers.caches[layer];
  if (cache === undefined) throw new RangeError(`the model has no layer ${layer}`);
  return {
    qkv: activations.buffer(input),
    rows: step.rows,
    block_tables: step.blockTables,
    key_cache: cache.keys,
    value_cache: cache.values,
    spans: step.spans,
    step: step.step,
    y: activations.buffer(output),
  };
}
