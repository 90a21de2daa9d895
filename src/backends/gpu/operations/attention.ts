import { maxSequenceLength } from "../../../engine/scheduling/admission.ts";
import type { Attention } from "../../../models/graph.ts";
import type { Dispatch, KernelBuffers } from "../kernel.ts";
import {
  attention,
  attentionMerge,
  attentionTile,
  isSplit,
  maxSplits,
  sharedQueries,
  UNLIMITED_WINDOW,
} from "../kernels/attention.ts";
import { strideOf } from "../padding.ts";
import { always, cacheConstants, type CompiledOperation, type OperationContext } from "./operations.ts";

const MERGE_LANES = 64;

/** By one workgroup a row and head. */
export async function attentionAlone(context: OperationContext, operation: Attention): Promise<CompiledOperation> {
  return always(await wholeDispatch(context, operation));
}

/** By one workgroup a row and head, or in splits that workgroups share, where rows are few and a context is long. */
export async function splitAttention(context: OperationContext, operation: Attention): Promise<CompiledOperation> {
  const { compiler, engine, activations, step } = context;
  const whole = wholeDispatch(context, operation);
  const window = windowOf(operation);
  if (!isSplit(1, Math.min(window, maxSequenceLength(engine)))) return always(await whole);
  const constants = constantsOf(context, operation);
  const numShares = constants.HEADS / constants.QUERIES;
  const { SPLIT, MAX_SPLITS, WINDOW, HEADS, HEAD_SIZE, HEAD_VEC4, Y_STRIDE } = constants;
  const merged = { SPLIT, MAX_SPLITS, WINDOW, HEADS, HEAD_SIZE, HEAD_VEC4, Y_STRIDE, LANES: MERGE_LANES };
  const [inSplits, merge] = await Promise.all([
    compiler.pipeline(attention, { ...constants, ALONE: false }),
    compiler.pipeline(attentionMerge, merged),
  ]);
  const parts = activations.attentionParts;
  const split: Dispatch = {
    name: `${operation.label} in splits`,
    pipeline: inSplits,
    bindGroup: compiler.bind(attention, { ...boundBuffers(context, operation), y: parts }),
    workgroups: (size) => [numShares, size.rows, Math.ceil(Math.min(window, size.longest) / SPLIT)],
  };
  const join: Dispatch = {
    name: operation.label,
    pipeline: merge,
    bindGroup: compiler.bind(attentionMerge, { parts, rows: step.rows, y: activations.buffer(operation.output) }),
    workgroups: (size) => [Math.ceil((HEADS * HEAD_VEC4) / MERGE_LANES), size.rows],
  };
  const [together, apart] = [[await whole], [split, join]];
  return (size) => (isSplit(size.rows, Math.min(window, size.longest)) ? apart : together);
}

async function wholeDispatch(context: OperationContext, operation: Attention): Promise<Dispatch> {
  const constants = constantsOf(context, operation);
  return {
    name: operation.label,
    pipeline: await context.compiler.pipeline(attention, { ...constants, ALONE: true }),
    bindGroup: context.compiler.bind(attention, boundBuffers(context, operation)),
    workgroups: (size) => [constants.HEADS / constants.QUERIES, size.rows],
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
    y: activations.buffer(output),
  };
}
