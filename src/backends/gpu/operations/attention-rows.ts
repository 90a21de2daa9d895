// The common part of the attention kernels: a step's single rows, its tiles of rows, and the write to the cache.

import { maxSequenceLength } from "../../../engine/scheduling/admission.ts";
import type { Attention } from "../../../models/graph.ts";
import { variantOf, type Dispatch, type KernelVariant } from "../kernel.ts";
import { UNLIMITED_WINDOW, type AttentionBuffers } from "../kernels/attention.ts";
import { cacheWrite } from "../kernels/kernels.ts";
import { NO_ANSWERS, Rank } from "../later-pipelines.ts";
import { ofLayer } from "../model-buffers.ts";
import type { QueryTiles } from "../query-tiles.ts";
import { answersOfAttention } from "../same-attention.ts";
import {
  always,
  cacheConstants,
  type CompiledOperation,
  type ModelContext,
  type OperationContext,
} from "./operations.ts";

/** A kernel of attention, for one operation. */
export interface AttentionKernel {
  /** @param tileRows most rows of a span; 1: rows by themselves */
  variant(tileRows: number): KernelVariant;
  dispatch(tileRows: number, pipeline: GPUComputePipeline, buffers: AttentionBuffers): Dispatch;
}

const CACHE_WRITE_LANES = 64;

export async function singleRows(
  context: ModelContext,
  operation: Attention,
  kernel: AttentionKernel,
): Promise<Dispatch> {
  const pipeline = await context.compiler.compile(kernel.variant(1));
  return kernel.dispatch(1, pipeline, boundBuffers(context, operation));
}

export async function cacheWriteDispatch(context: ModelContext, operation: Attention): Promise<Dispatch> {
  const pipeline = await context.compiler.compile(cacheWriteVariant(context));
  return writeDispatch(context, operation.label, pipeline, boundBuffers(context, operation));
}

/** Compiles tiles at once, to be measured. */
export async function tilesToMeasure(
  context: ModelContext,
  operation: Attention,
  kernel: AttentionKernel,
  { rows }: QueryTiles,
): Promise<CompiledOperation> {
  const single = await singleRows(context, operation, kernel);
  if (rows === 1) return always(single);
  const write = await cacheWriteDispatch(context, operation);
  const pipeline = await context.compiler.compile(kernel.variant(rows));
  return inTiles(write, kernel.dispatch(rows, pipeline, boundBuffers(context, operation)), single);
}

/** Attends as `others` do until the kernel for tiles is compiled and proved to give the same bits. */
export function withTiles(
  context: OperationContext,
  operation: Attention,
  { kernel, single, others }: { kernel: AttentionKernel; single: Dispatch; others: CompiledOperation },
): CompiledOperation {
  const { rows } = context.tiles.target;
  if (rows === 1) return others;
  const ready = laterWay(context, operation, {
    whole: { kernel, single },
    rows,
    rank: Rank.prompts,
    onWrong: () => context.tiles.stop(),
    variants: [kernel.variant(rows), cacheWriteVariant(context)],
    dispatches: ([tile, write], buffers, alone) =>
      inTiles(writeDispatch(context, operation.label, write, buffers), kernel.dispatch(rows, tile, buffers), alone),
  });
  let tiled: CompiledOperation | null = null;
  context.tiles.await(ready.then((way) => (tiled = way) !== null));
  return (size) => (size.tiles > 0 && tiled ? tiled : others)(size);
}

type Pipelines = readonly [GPUComputePipeline, GPUComputePipeline];

/** Another way to attend, of two pipelines. */
interface LaterWay {
  readonly whole: { readonly kernel: AttentionKernel; readonly single: Dispatch };
  /** Rows of its tiles; 1: it has none. */
  readonly rows: number;
  /** Most rows of a step that it takes. [any] */
  readonly maxRows?: number;
  readonly rank: Rank;
  /** Called if its bits are others some time later. */
  readonly onWrong: () => void;
  readonly variants: readonly [KernelVariant, KernelVariant];
  /** Makes it for a layer's buffers, or for a test's. */
  readonly dispatches: (pipelines: Pipelines, buffers: AttentionBuffers, single: Dispatch) => CompiledOperation;
}

/** Resolves with another way to attend once it is compiled and has the bits of rows by themselves; with null if it has others. */
export async function laterWay(
  context: OperationContext,
  operation: Attention,
  {
    whole: { kernel, single },
    rows,
    maxRows = Infinity,
    rank,
    onWrong,
    variants: [first, second],
    dispatches,
  }: LaterWay,
): Promise<CompiledOperation | null> {
  const other = context.later.add(second, rank);
  const own = context.later.add(first, rank, async (pipeline) => {
    other.hurry();
    const otherPipeline = await other.ready;
    if (otherPipeline === null || context.later.isStopped) return NO_ANSWERS;
    const maxLength = maxSequenceLength(context.engine);
    const shape = { ...cacheConstants(context), maxLength, tileRows: rows, maxRows };
    return answersOfAttention(context, { ...shape, window: windowOf(operation) }, (buffers) => {
      const alone = kernel.dispatch(1, single.pipeline, buffers);
      return { single: alone, tried: dispatches([pipeline, otherPipeline], buffers, alone) };
    });
  });
  own.onChange(({ given }) => given && onWrong());
  const [pipeline, otherPipeline] = await Promise.all([own.ready, other.ready]);
  if (!pipeline || !otherPipeline) return null;
  return dispatches([pipeline, otherPipeline], boundBuffers(context, operation), single);
}

/** Returns the dispatches of a step with tiles, with its other rows one by one, and of one without. */
function inTiles(write: Dispatch, tile: Dispatch, single: Dispatch): CompiledOperation {
  const [tiles, mixed, singles] = [[write, tile], [write, tile, single], [single]];
  return (size) => (size.tiles === 0 ? singles : size.singles === 0 ? tiles : mixed);
}

function cacheWriteVariant(context: ModelContext): KernelVariant {
  return variantOf(cacheWrite, { ...cacheConstants(context), LANES: CACHE_WRITE_LANES });
}

function writeDispatch(
  context: ModelContext,
  label: string,
  pipeline: GPUComputePipeline,
  buffers: AttentionBuffers,
): Dispatch {
  const { KV_HEADS, HEAD_VEC4 } = cacheConstants(context);
  return {
    name: `${label}: cache write`,
    pipeline,
    bindGroup: context.compiler.bind(cacheWrite, buffers),
    workgroups: (size) => [Math.ceil((KV_HEADS * HEAD_VEC4) / CACHE_WRITE_LANES), size.rows],
  };
}

/** Returns the number of positions that a row sees, its own included. */
export function windowOf({ window }: Attention): number {
  return window ?? UNLIMITED_WINDOW;
}

/** Returns the constants of the kernels that score keys. */
export function scoreConstants(operation: Attention) {
  return { SCALE: operation.scale, CAP: operation.cap ?? 0, WINDOW: windowOf(operation) };
}

function boundBuffers({ buffers, activations, step }: ModelContext, { layer, input, output }: Attention) {
  const cache = ofLayer(buffers.caches, layer);
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
