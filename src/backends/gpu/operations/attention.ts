import { maxSequenceLength } from "../../../engine/scheduling/admission.ts";
import type { Attention } from "../../../models/graph.ts";
import { variantOf, type Dispatch } from "../kernel.ts";
import {
  attentionTile,
  isSplit,
  MAX_SPLIT_ROWS,
  maxSplits,
  mostQueries,
  sharedQueries,
  splitsSeen,
} from "../kernels/attention.ts";
import { attention, attentionMerge } from "../kernels/kernels.ts";
import { strideOf } from "../padding.ts";
import { Rank } from "../later-pipelines.ts";
import { laterWay, scoreConstants, singleRows, windowOf, withTiles, type AttentionKernel } from "./attention-rows.ts";
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
  const single = await singleRows(context, operation, kernel);
  const window = windowOf(operation);
  const whole = always(single);
  let splits = whole;
  const take = (way: CompiledOperation | null) => (splits = way ?? whole);
  laterSplits(context, operation, { kernel, single }, () => take(null)).then(take, () => undefined);
  const others: CompiledOperation = (size) =>
    (isSplit(size.rows, Math.min(window, size.longest)) ? splits : whole)(size);
  return withTiles(context, operation, { kernel, single, others });
}

/** Returns the kernel of one workgroup per span and heads that share keys and values. */
export function wholeAttention(context: ModelContext, operation: Attention): AttentionKernel {
  const constants = constantsOf(context, operation);
  const sharesOf = (tileRows: number) => sharesIn(context, tileRows);
  return {
    variant: (ROWS) => variantOf(attention, { ...constants, ROWS, QUERIES: sharesOf(ROWS).QUERIES, ALONE: true }),
    dispatch: (tileRows, pipeline, buffers) => ({
      name: tileRows > 1 ? `${operation.label} in tiles` : operation.label,
      pipeline,
      bindGroup: context.compiler.bind(attention, buffers),
      workgroups: (size) => [sharesOf(tileRows).workgroups, tileRows > 1 ? size.tiles : size.singles],
    }),
  };
}

/** Resolves with attention in splits; with null if no sequence is long enough, or its bits differ from those of whole rows. */
async function laterSplits(
  context: OperationContext,
  operation: Attention,
  whole: { kernel: AttentionKernel; single: Dispatch },
  onWrong: () => void,
): Promise<CompiledOperation | null> {
  const { compiler, engine, activations, step } = context;
  const window = windowOf(operation);
  if (!isSplit(1, Math.min(window, maxSequenceLength(engine)))) return null;
  const constants = constantsOf(context, operation);
  const { SPLIT, MAX_SPLITS, WINDOW, HEADS, HEAD_SIZE, HEAD_VEC4, Y_STRIDE } = constants;
  const { QUERIES, workgroups } = sharesIn(context, 1);
  const merged = { SPLIT, MAX_SPLITS, WINDOW, HEADS, HEAD_SIZE, HEAD_VEC4, Y_STRIDE, LANES: MERGE_LANES };
  const parts = activations.attentionParts;
  return laterWay(context, operation, {
    whole,
    rows: 1,
    maxRows: Math.min(MAX_SPLIT_ROWS, step.maxRows),
    rank: Rank.answers,
    onWrong,
    variants: [
      variantOf(attention, { ...constants, ROWS: 1, QUERIES, ALONE: false }),
      variantOf(attentionMerge, merged),
    ],
    dispatches: ([split, merge], buffers) => {
      const seen = (longest: number) => splitsSeen(Math.min(window, longest), longest, SPLIT);
      const inSplits: Dispatch = {
        name: `${operation.label} in splits`,
        pipeline: split,
        bindGroup: compiler.bind(attention, { ...buffers, y: parts }),
        workgroups: ({ rows, longest }) => [workgroups, rows, seen(longest)],
      };
      const join: Dispatch = {
        name: operation.label,
        pipeline: merge,
        bindGroup: compiler.bind(attentionMerge, { parts, rows: buffers.rows, y: buffers.y }),
        workgroups: ({ rows }) => [Math.ceil((HEADS * HEAD_VEC4) / MERGE_LANES), rows],
      };
      return always(inSplits, join);
    },
  });
}

/** In a tile a workgroup has one head, else as many as it can. */
function sharesIn(context: ModelContext, tileRows: number) {
  const { HEADS, KV_HEADS, HEAD_VEC4 } = cacheConstants(context);
  return sharedQueries(HEADS, KV_HEADS, tileRows > 1 ? 1 : mostQueries(HEAD_VEC4, context.hasFewRegisters));
}

function constantsOf(context: ModelContext, operation: Attention) {
  const cache = cacheConstants(context);
  const MAX_SPLITS = maxSplits(cache.HEAD_VEC4, maxSequenceLength(context.engine));
  const Y_STRIDE = strideOf(cache.HEADS * cache.HEAD_SIZE);
  const scores = scoreConstants(operation);
  return { ...cache, ...attentionTile(cache.HEAD_VEC4), MAX_SPLITS, Y_STRIDE, ...scores };
}
