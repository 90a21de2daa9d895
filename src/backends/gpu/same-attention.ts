// Tests whether attention gives rows in tiles, or in splits that are merged, the bits that each has as a single row. The known
// answers compare the kernel of single rows with the CPU (host/loading/known-answers.ts); the others are compiled while
// answers stream. The test has its own buffers, since answers need the cache.

import { float32ToFloat16 } from "../../files/half.ts";
import { ROW_WORDS, type PlannedSequence } from "../../engine/step-plan.ts";
import { createBuffer } from "./arena.ts";
import type { OpenedDevice } from "./device.ts";
import { BufferUsage } from "./flags.ts";
import type { Dispatch, StepSize } from "./kernel.ts";
import type { AttentionBuffers } from "./kernels/attention.ts";
import { strideOf } from "./padding.ts";
import { SPAN_WORDS, writeSpans } from "./query-tiles.ts";
import { hashOf, numbers, readAfter, type Answers } from "./read-after.ts";

/** Positions before the second sequence's rows: more than a split, and than any tile of keys. */
const CONTEXT = 300;
/** Distance of the second sequence's rows beyond the first position that a window hides. */
const BEYOND_WINDOW = 70;
/** Longest window that rows are placed beyond: more positions would delay steps. */
const LONGEST_WINDOW = 4096;
/** Blocks of keys and values from earlier steps, which all positions share. */
const OLD_BLOCKS = 5;

/** The constants of the kernels that decide which rows are tried. */
interface TriedShape {
  readonly HEADS: number;
  readonly KV_HEADS: number;
  readonly HEAD_VEC4: number;
  readonly HEAD_SIZE: number;
  readonly BLOCK_SIZE: number;
  readonly MAX_BLOCKS: number;
  readonly QKV_STRIDE: number;
  readonly CACHE_F16: boolean;
  readonly window: number;
  readonly maxLength: number;
  /** Rows of a tile; 1: no tiles. */
  readonly tileRows: number;
  /** Most rows that the dispatches have room for. */
  readonly maxRows: number;
}

/** The compared dispatches: all rows by `single`, or as `tried` computes a step of this size. */
interface TriedDispatches {
  readonly single: Dispatch;
  readonly tried: (size: StepSize) => readonly Dispatch[];
}

export async function answersOfAttention(
  opened: Pick<OpenedDevice, "device" | "poller">,
  shape: TriedShape,
  dispatchesOn: (buffers: AttentionBuffers) => TriedDispatches,
): Promise<Answers> {
  const { device } = opened;
  const sequences = triedSequences(shape);
  const numRows = sequences.reduce((sum, one) => sum + one.numRows, 0);
  const buffers: GPUBuffer[] = [];
  const usage = BufferUsage.STORAGE | BufferUsage.UNIFORM | BufferUsage.COPY_DST | BufferUsage.COPY_SRC;
  const upload = (label: string, data: ArrayBufferView<ArrayBuffer>) => {
    const buffer = createBuffer(device, { label, size: Math.max(16, data.byteLength), usage });
    buffers.push(buffer);
    device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  };
  try {
    const { tables, numBlocks } = blockTables(shape, sequences);
    const cached = numbers(numBlocks * shape.BLOCK_SIZE * shape.KV_HEADS * shape.HEAD_VEC4 * 4);
    const cache = shape.CACHE_F16 ? float32ToFloat16(cached) : cached;
    const bound = {
      qkv: upload("tried qkv", numbers(numRows * shape.QKV_STRIDE)),
      rows: upload("tried rows", rowsOf(sequences)),
      block_tables: upload("tried blocks", tables),
      key_cache: upload("tried keys", cache),
      value_cache: upload("tried values", cache.toReversed()),
      spans: upload("tried spans", new Uint32Array(SPAN_WORDS * numRows)),
      step: upload("tried step", new Uint32Array(4)),
      y: upload("tried outputs", new Float32Array(numRows * strideOf(shape.HEADS * shape.HEAD_SIZE))),
    };
    const { single, tried } = dispatchesOn(bound);
    const longest = Math.max(...sequences.map((one) => one.start + one.numRows));
    // Tiles come first, since they write the cache: single rows may only read it.
    const ways = [[shape.tileRows, tried] as const, [1, () => [single]] as const];
    const results = ways.map(([rows, dispatches]) => {
      const spans = new Uint32Array(SPAN_WORDS * numRows);
      const counts = { rows: numRows, sequences: 0, samples: 0, longest };
      const size = { ...counts, ...writeSpans(spans, sequences, { rows, minStepRows: 0 }) };
      device.queue.writeBuffer(bound.spans, 0, spans);
      device.queue.writeBuffer(bound.step, 0, new Uint32Array([numRows, 0, size.tiles, 0]));
      device.queue.writeBuffer(bound.y, 0, new Float32Array(bound.y.size / 4));
      return readAfter(opened, dispatches(size), size, [{ buffer: bound.y, offset: 0, bytes: bound.y.size }]);
    });
    const [given = NaN, known = NaN] = (await Promise.all(results)).map(hashOf);
    return { known, given };
  } finally {
    for (const buffer of buffers) buffer.destroy();
  }
}

/** Returns a prompt from its beginning whose last tile is not full, and rows of a long context that begin within a tile. */
function triedSequences({ maxLength, tileRows: rows, window, maxRows }: TriedShape): PlannedSequence[] {
  const tileRows = Math.max(2, rows);
  const numRows = Math.min(maxLength, 2 * tileRows + tileRows / 2 + 1, Math.ceil(maxRows / 2));
  const context = window > LONGEST_WINDOW ? CONTEXT : Math.max(CONTEXT, window + BEYOND_WINDOW);
  const latest = Math.min(context, maxLength - numRows);
  const amid = latest - (latest % tileRows) - tileRows + 1;
  const starts = maxRows < 2 * numRows ? [Math.max(0, amid)] : [0, Math.max(0, amid)];
  return starts.map((start, slot) => ({ slot, start, numRows, numScored: 0, numDrawn: 0 }));
}

function rowsOf(sequences: readonly PlannedSequence[]): Uint32Array<ArrayBuffer> {
  const words = sequences.flatMap(({ slot, start, numRows }) =>
    Array.from({ length: numRows }, (_, i) => [0, start + i, slot, start]),
  );
  return new Uint32Array(ROW_WORDS * words.length).map(
    (_, i) => words[Math.floor(i / ROW_WORDS)]?.[i % ROW_WORDS] ?? 0,
  );
}

/** Returns block tables: each row's block has one owner, and the old blocks alternate before it. */
function blockTables({ BLOCK_SIZE, MAX_BLOCKS }: TriedShape, sequences: readonly PlannedSequence[]) {
  const tables = Uint32Array.from({ length: sequences.length * MAX_BLOCKS }, (_, i) => (7 * i) % OLD_BLOCKS);
  let numBlocks = OLD_BLOCKS;
  for (const { slot, start, numRows } of sequences) {
    const last = Math.floor((start + numRows - 1) / BLOCK_SIZE);
    for (let block = Math.floor(start / BLOCK_SIZE); block <= last; block++) {
      tables[slot * MAX_BLOCKS + block] = numBlocks++;
    }
  }
  return { tables, numBlocks };
}
