// Runs the kernels of attention by hand, for their tests: rows of random numbers, in steps over one cache.

import { float16ToFloat32, float32ToFloat16 } from "../../src/files/half.ts";
import type { KvCacheDtype } from "../../src/protocol/config.ts";
import { attention, attentionMerge, attentionQuad, cacheWrite } from "../../src/backends/gpu/kernels/kernels.ts";
import {
  attentionTile,
  maxSplits,
  quadShares,
  mostQueries,
  sharedQueries,
  splitsSeen,
  UNLIMITED_WINDOW,
} from "../../src/backends/gpu/kernels/attention.ts";
import { padRows, strideOf } from "../../src/backends/gpu/padding.ts";
import { SPAN_WORDS, writeSpans } from "../../src/backends/gpu/query-tiles.ts";
import { attentionReference } from "../references/reference.ts";
import { expectClose, floatsOf, randomFloats, runKernel } from "./gpu.ts";

const BLOCK_SIZE = 16;
const MAX_BLOCKS = 20;
const NUM_BLOCKS = 64;

export type KernelName = "attention" | "attention in splits" | "attention-quad";

export interface Shape {
  kernel: KernelName;
  heads: number;
  /** Heads of keys and values. [heads] */
  kvHeads?: number;
  headSize: number;
  /** Positions that a row sees. [all] */
  window?: number;
  cacheDtype: KvCacheDtype;
  /** See Attention.cap. [none] */
  cap?: number;
  /** Query heads that share a load of keys and values. [as many as can] */
  queries?: number;
  /** Most rows of a sequence that share it, each by one query head. [1] */
  tileRows?: number;
  /** From this position on values are infinite. [none] */
  infiniteFrom?: number;
}

/** Rows that each come from (slot, position); their queries, keys and values are random but fixed by both. */
interface Row {
  slot: number;
  position: number;
}

/** Keys and values of each shape, by the source of their rows: a reference reads them for each head of each later row. */
const knownRows = new WeakMap<Shape, Map<number, Float32Array<ArrayBuffer>>>();

function qkvOf(shape: Shape, { slot, position }: Row): Float32Array<ArrayBuffer> {
  const { heads, kvHeads = heads, headSize, infiniteFrom = Infinity } = shape;
  const seed = 1000 * slot + position + 1;
  const known = knownRows.get(shape) ?? new Map<number, Float32Array<ArrayBuffer>>();
  knownRows.set(shape, known);
  const qkv = known.get(seed) ?? randomFloats((heads + 2 * kvHeads) * headSize, seed);
  known.set(seed, qkv);
  return position < infiniteFrom ? qkv : qkv.fill(Infinity, (heads + kvHeads) * headSize);
}

/** Scattered blocks, none shared. */
const blockTables = Uint32Array.from({ length: 3 * MAX_BLOCKS }, (_, i) => (i * 7 + 3) % NUM_BLOCKS);

/** Attends with the rows of the steps as given, each step's keys and values cached for the next; the last one's result. */
export async function attend(device: GPUDevice, shape: Shape, steps: Row[][]): Promise<Float32Array> {
  const { kernel, heads, kvHeads = heads, headSize, cacheDtype, tileRows = 1 } = shape;
  const qkvWidth = (heads + 2 * kvHeads) * headSize;
  const headVec4 = Math.ceil(headSize / 4);
  const width = heads * headSize;
  const constants = constantsOf(shape);
  const cacheWords = NUM_BLOCKS * BLOCK_SIZE * kvHeads * headVec4 * (cacheDtype === "f16" ? 2 : 4);
  // Unwritten memory must never be read: NaN would show.
  let keys = new Uint32Array(cacheWords).fill(0xffffffff);
  let values = new Uint32Array(cacheWords).fill(0xffffffff);
  let result = new Float32Array();
  for (const rows of steps) {
    const qkv = padRows(Float32Array.from(rows.flatMap((row) => [...qkvOf(shape, row)])), rows.length, qkvWidth);
    const startOf = (slot: number) => rows.find((row) => row.slot === slot)?.position ?? 0;
    const rowWords = new Uint32Array(rows.flatMap(({ slot, position }) => [0, position, slot, startOf(slot)]));
    const data = {
      qkv,
      rows: rowWords,
      block_tables: blockTables,
      key_cache: keys,
      value_cache: values,
      y: new Float32Array(rows.length * strideOf(width)),
    };
    const outputs = await run(device, kernel, constants, { ...data, ...spansOf(rows, tileRows) }, shape);
    keys = wordsOf(outputs.key_cache);
    values = wordsOf(outputs.value_cache);
    result = floatsOf(outputs, "y") as Float32Array<ArrayBuffer>;
  }
  return result;
}

function constantsOf({ heads, kvHeads = heads, headSize, window = UNLIMITED_WINDOW, cacheDtype, cap }: Shape) {
  return {
    HEADS: heads,
    KV_HEADS: kvHeads,
    HEAD_VEC4: Math.ceil(headSize / 4),
    BLOCK_SIZE,
    MAX_BLOCKS,
    CACHE_F16: cacheDtype === "f16",
    HEAD_SIZE: headSize,
    QKV_STRIDE: strideOf((heads + 2 * kvHeads) * headSize),
    Y_STRIDE: strideOf(heads * headSize),
    SCALE: 1 / Math.sqrt(headSize),
    CAP: cap ?? 0,
    WINDOW: window,
  };
}

function wordsOf(bytes = new ArrayBuffer(0)): Uint32Array<ArrayBuffer> {
  return new Uint32Array(bytes);
}

/** The spans of rows whose sequences come one after the other, and the step's uniform. */
function spansOf(rows: readonly Row[], tileRows: number) {
  const slots = [...new Set(rows.map(({ slot }) => slot))];
  const sequences = slots.map((slot) => {
    const own = rows.filter((row) => row.slot === slot);
    return { slot, start: own[0]?.position ?? 0, numRows: own.length, numScored: 0, numDrawn: 0 };
  });
  const spans = new Uint32Array(SPAN_WORDS * rows.length);
  const counts = writeSpans(spans, sequences, { rows: tileRows, minStepRows: 0 });
  return { spans, step: new Uint32Array([rows.length, 0, counts.tiles, 0]), counts };
}

type AttentionData = ReturnType<typeof spansOf> &
  Readonly<
    Record<"rows" | "block_tables" | "key_cache" | "value_cache", Uint32Array<ArrayBuffer>> &
      Record<"qkv" | "y", Float32Array<ArrayBuffer>>
  >;

async function run(
  device: GPUDevice,
  kernel: KernelName,
  constants: ReturnType<typeof constantsOf>,
  { counts, ...data }: AttentionData,
  { queries, tileRows = 1 }: Shape,
): Promise<Record<string, ArrayBuffer>> {
  const { HEADS: heads, KV_HEADS: kvHeads, HEAD_VEC4: headVec4 } = constants;
  const numRows = data.rows.length / 4;
  const { Y_STRIDE, SCALE: _scale, CAP: _cap, WINDOW, ...cache } = constants;
  // Kernels that read only the cache find it written.
  const written =
    kernel === "attention-quad" || counts.tiles > 0
      ? await runKernel(device, cacheWrite, { ...cache, LANES: 8 }, data, [
          Math.ceil((kvHeads * headVec4) / 8),
          numRows,
        ])
      : {};
  const after = (before: Record<string, ArrayBuffer>) => ({
    ...data,
    key_cache: before.key_cache ? wordsOf(before.key_cache) : data.key_cache,
    value_cache: before.value_cache ? wordsOf(before.value_cache) : data.value_cache,
    y: before.y ? new Float32Array(before.y) : data.y,
  });
  const { SPLIT, ...tile } = attentionTile(headVec4);
  const MAX_SPLITS = maxSplits(headVec4, MAX_BLOCKS * BLOCK_SIZE);
  const splits = { SPLIT, MAX_SPLITS };
  const shared = sharedQueries(heads, kvHeads, queries ?? mostQueries(headVec4));
  const { QUERIES } = shared;
  const alone = { ...constants, ...tile, ...splits, ROWS: 1, QUERIES, ALONE: true };

  if (kernel === "attention in splits") {
    // Positions that a row does not have must not be read: NaN would show.
    const parts = new Float32Array(numRows * heads * MAX_SPLITS * 4 * (headVec4 + 1)).fill(NaN);
    const longest = Math.max(...Array.from({ length: numRows }, (_, r) => (data.rows[4 * r + 1] ?? 0) + 1));
    const computed = await runKernel(device, attention, { ...alone, ALONE: false }, { ...data, y: parts }, [
      shared.workgroups,
      numRows,
      splitsSeen(Math.min(WINDOW, longest), longest, SPLIT),
    ]);
    const merge = { ...splits, WINDOW, LANES: 64, HEADS: heads, HEAD_SIZE: constants.HEAD_SIZE, HEAD_VEC4: headVec4 };
    const merged = await runKernel(
      device,
      attentionMerge,
      { ...merge, Y_STRIDE },
      { parts: floatsOf(computed, "y") as Float32Array<ArrayBuffer>, rows: data.rows, y: data.y },
      [Math.ceil((heads * headVec4) / 64), numRows],
    );
    return { ...computed, ...merged };
  }

  let outputs: Record<string, ArrayBuffer> = written;
  for (const [rows, count] of [
    [tileRows, counts.tiles],
    [1, counts.singles],
  ] as const) {
    if (count === 0) continue;
    const isTile = rows > 1;
    if (kernel === "attention-quad") {
      const { workgroups, ...shares } = quadShares(heads, kvHeads, isTile ? 1 : queries);
      const kind = { ...constants, ...shares, ROWS: rows };
      outputs = { ...outputs, ...(await runKernel(device, attentionQuad, kind, after(outputs), [workgroups, count])) };
    } else {
      const kind = { ...alone, ROWS: rows, QUERIES: isTile ? 1 : QUERIES };
      const groups = [isTile ? heads : shared.workgroups, count] as const;
      outputs = { ...outputs, ...(await runKernel(device, attention, kind, after(outputs), groups)) };
    }
  }
  return outputs;
}

function reference(shape: Shape, row: Row, head: number): Float64Array {
  const { heads, kvHeads = heads, headSize, window = Infinity, cacheDtype, cap } = shape;
  const part = (position: number, which: number) => {
    const kvHead = Math.floor(head / (heads / kvHeads));
    const at = which === 0 ? head : heads + (which - 1) * kvHeads + kvHead;
    const values = qkvOf(shape, { slot: row.slot, position }).slice(at * headSize, (at + 1) * headSize);
    return which > 0 && cacheDtype === "f16" ? float16ToFloat32(float32ToFloat16(values)) : values;
  };
  const positions = Array.from({ length: row.position + 1 }, (_, i) => i).slice(-window);
  return attentionReference(
    part(row.position, 0),
    positions.map((p) => part(p, 1)),
    positions.map((p) => part(p, 2)),
    { scale: 1 / Math.sqrt(headSize), cap },
  );
}

/** Holds what was attended for these rows to a reference in float64. */
export function expectAttention(result: Float32Array, shape: Shape, rows: readonly Row[]): void {
  const { heads, headSize } = shape;
  rows.forEach((row, r) => {
    for (let head = 0; head < heads; head++) {
      const at = r * strideOf(heads * headSize) + head * headSize;
      expectClose(result.subarray(at, at + headSize), reference(shape, row, head), 1e-5);
    }
  });
}

export function rowsOf(slot: number, start: number, end: number): Row[] {
  return Array.from({ length: end - start }, (_, i) => ({ slot, position: start + i }));
}
