// The common part of the attention kernels: a step's single rows, its tiles of rows, and the write to the cache.

import { maxSequenceLength } from "../../../engine/scheduling/admission.ts";
import type { Attention } from "../../../models/graph.ts";
import { variantOf, type Dispatch, type KernelBuffers, type KernelVariant } from "../kernel.ts";
import { cacheWrite, UNLIMITED_WINDOW, type attention } from "../kernels/attention.ts";
import { Rank } from "../later-pipelines.ts";
import type { QueryTiles } from "../query-tiles.ts";
import { isSameAttention } from "../same-attention.ts";
import {
  always,
  cacheConstants,
  type CompiledOperation,
  type ModelContext,
  type OperationContext,
} from "./operations.ts";

/** Buffers of a layer's attention, by the names that all of its kernels have for them. */
type AttentionBuffers = KernelBuffers<typeof attention>;

/** A kernel of attention, for one operation. */
export interface AttentionKernel {
  /** @param tileRows most rows of a span; 1: rows by themselves */
  variant(tileRows: number): KernelVariant;
  dispatch(tileRows: number, pipeline: GPUComputePipeline, buffers: AttentionBuffers): Dispatch;
}

const CACHE_WRITE_LANES = 64;

/** Returns the dispatch for single rows. */
export async function singleRows(
  context: ModelContext,
  operation: Attention,
  kernel: AttentionKernel,
): Promise<Dispatch> {
  const pipeline = await context.compiler.compile(kernel.variant(1));
  return kernel.dispatch(1, pipeline, boundBuffers(context, operation));
}

/** Writes the keys and values of all rows to the cache. */
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
  return tilesOr(always(single), write, kernel.dispatch(rows, pipeline, boundBuffers(context, operation)), single);
}

/** Attends as `others` do until the kernel for tiles is compiled and proved to give the same bits. */
export function withTiles(
  context: OperationContext,
  operation: Attention,
  { kernel, single, others }: { kernel: AttentionKernel; single: Dispatch; others: CompiledOperation },
): CompiledOperation {
  const { later, tiles } = context;
  const { rows } = tiles.target;
  if (rows === 1) return others;
  const writing = later.add(cacheWriteVariant(context), Rank.prompts);
  const tiling = later.add(kernel.variant(rows), Rank.prompts, async (tilePipeline) => {
    writing.hurry();
    const writePipeline = await writing.ready;
    if (writePipeline === null) return false;
    const shape = { ...cacheConstants(context), maxLength: maxSequenceLength(context.engine), tileRows: rows };
    return isSameAttention(context, { ...shape, window: windowOf(operation) }, (buffers) => ({
      write: writeDispatch(context, operation.label, writePipeline, buffers),
      single: kernel.dispatch(1, single.pipeline, buffers),
      tile: kernel.dispatch(rows, tilePipeline, buffers),
    }));
  });
  let dispatches = others;
  const take = ([write, tile]: readonly (GPUComputePipeline | null)[]) => {
    if (!write || !tile) return false;
    const buffers = boundBuffers(context, operation);
    const written = writeDispatch(context, operation.label, write, buffers);
    dispatches = tilesOr(others, written, kernel.dispatch(rows, tile, buffers), single);
    return true;
  };
  tiles.await(Promise.all([writing.ready, tiling.ready]).then(take));
  return (size) => dispatches(size);
}

/** Returns these dispatches for a step with tiles, with its other rows one by one, and those of `others` for a step without. */
function tilesOr(others: CompiledOperation, write: Dispatch, tile: Dispatch, single: Dispatch): CompiledOperation {
  const [tiles, mixed] = [
    [write, tile],
    [write, tile, single],
  ];
  return (size) => {
    if (size.tiles === 0) return others(size);
    return size.singles === 0 ? tiles : mixed;
  };
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

export function boundBuffers(
  { buffers, activations, step }: ModelContext,
  { layer, input, output }: Attention,
): AttentionBuffers {
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
