import { describe, expect, it } from "vitest";

import { float16ToFloat32, float32ToFloat16 } from "../../../files/half.ts";
import type { KvCacheDtype } from "../../../protocol/config.ts";
import {
  differingWords,
  expectClose,
  floatsOf,
  openTestDevice,
  randomFloats,
  runKernel,
} from "../../../testing/gpu/gpu.ts";
import { attentionReference } from "../../../testing/references/reference.ts";
import type { KernelConstants } from "../kernel.ts";
import { padRows, strideOf } from "../padding.ts";
import {
  attention,
  attentionMerge,
  attentionQuad,
  attentionTile,
  cacheWrite,
  isSplit,
  MAX_HEAD_SIZE,
  maxSplits,
  QUAD_HEAD_VEC4,
  quadShares,
  sharedQueries,
  splitFloats,
  UNLIMITED_WINDOW,
} from "./attention.ts";

const { device, hasSubgroups } = await openTestDevice();

const BLOCK_SIZE = 16;
const MAX_BLOCKS = 20;
const NUM_BLOCKS = 64;

type KernelName = "attention" | "attention in splits" | "attention-quad";

// Where the device has no subgroups the latter is not used. What comes in splits is held to the bits of what does not.
const KERNELS: readonly KernelName[] = hasSubgroups ? ["attention", "attention-quad"] : ["attention"];

interface Shape {
  kernel: KernelName;
  heads: number;
  /** Heads of keys and values. [heads] */
  kvHeads?: number;
  headSize: number;
  /** Positions that a row sees. [all] */
  window?: number;
  cacheDtype: KvCacheDtype;
  /** Query heads that share a load of keys and values. [as many as can] */
  queries?: number;
}

/** Rows that each come from (slot, position); their queries, keys and values are random but fixed by both. */
interface Row {
  slot: number;
  position: number;
}

function qkvOf({ heads, kvHeads = heads, headSize }: Shape, { slot, position }: Row): Float32Array<ArrayBuffer> {
  return randomFloats((heads + 2 * kvHeads) * headSize, 1000 * slot + position + 1);
}

/** Scattered blocks, none shared. */
const blockTables = Uint32Array.from({ length: 3 * MAX_BLOCKS }, (_, i) => (i * 7 + 3) % NUM_BLOCKS);

/** Attends with the rows of the steps as given, each step's keys and values cached for the next; the last one's result. */
async function attend(shape: Shape, steps: Row[][]): Promise<Float32Array> {
  const { kernel, heads, kvHeads = heads, headSize, window = UNLIMITED_WINDOW, cacheDtype } = shape;
  const qkvWidth = (heads + 2 * kvHeads) * headSize;
  const headVec4 = Math.ceil(headSize / 4);
  const width = heads * headSize;
  const constants = {
    HEADS: heads,
    KV_HEADS: kvHeads,
    HEAD_VEC4: headVec4,
    BLOCK_SIZE,
    MAX_BLOCKS,
    CACHE_F16: cacheDtype === "f16",
    HEAD_SIZE: headSize,
    QKV_STRIDE: strideOf(qkvWidth),
    Y_STRIDE: strideOf(width),
    SCALE: 1 / Math.sqrt(headSize),
    WINDOW: window,
  };
  const cacheWords = NUM_BLOCKS * BLOCK_SIZE * kvHeads * headVec4 * (cacheDtype === "f16" ? 2 : 4);
  // What nobody wrote must never be read: NaN would show.
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
    const outputs = await run(kernel, constants, data, shape.queries);
    keys = wordsOf(outputs.key_cache);
    values = wordsOf(outputs.value_cache);
    result = floatsOf(outputs, "y") as Float32Array<ArrayBuffer>;
  }
  return result;
}

function wordsOf(bytes = new ArrayBuffer(0)): Uint32Array<ArrayBuffer> {
  return new Uint32Array(bytes);
}

type AttentionData = Readonly<
  Record<"rows" | "block_tables" | "key_cache" | "value_cache", Uint32Array<ArrayBuffer>> &
    Record<"qkv" | "y", Float32Array<ArrayBuffer>>
>;

async function run(
  kernel: KernelName,
  constants: Omit<KernelConstants<typeof attentionQuad>, "LANES" | "QUERIES">,
  data: AttentionData,
  queries?: number,
): Promise<Record<string, ArrayBuffer>> {
  const [heads, kvHeads] = [Number(constants.HEADS), Number(constants.KV_HEADS)];
  const headVec4 = Number(constants.HEAD_VEC4);
  const numRows = data.rows.length / 4;
  if (kernel === "attention-quad") {
    const { Y_STRIDE, SCALE, WINDOW, ...cache } = constants;
    const write = { ...cache, LANES: 8 };
    const written = await runKernel(device, cacheWrite, write, data, [Math.ceil((kvHeads * headVec4) / 8), numRows]);
    const [key_cache, value_cache] = [wordsOf(written.key_cache), wordsOf(written.value_cache)];
    const { workgroups, ...shares } = quadShares(heads, kvHeads, queries);
    const outputs = await runKernel(
      device,
      attentionQuad,
      { ...cache, Y_STRIDE, SCALE, WINDOW, ...shares },
      { ...data, key_cache, value_cache },
      [workgroups, numRows],
    );
    return { ...outputs, ...written };
  }
  const QUERIES = queries ?? sharedQueries(heads, kvHeads, headVec4);
  const { SPLIT, ...tile } = attentionTile(headVec4);
  const MAX_SPLITS = maxSplits(headVec4, MAX_BLOCKS * BLOCK_SIZE);
  const splits = { SPLIT, MAX_SPLITS };
  const alone = { ...constants, ...tile, ...splits, QUERIES, ALONE: true };
  if (kernel === "attention") return runKernel(device, attention, alone, data, [heads / QUERIES, numRows]);

  // What a row has no positions for must not be read: NaN would show.
  const parts = new Float32Array(numRows * heads * MAX_SPLITS * 4 * (headVec4 + 1)).fill(NaN);
  const computed = await runKernel(device, attention, { ...alone, ALONE: false }, { ...data, y: parts }, [
    heads / QUERIES,
    numRows,
    MAX_SPLITS,
  ]);
  const merge = {
    ...splits,
    WINDOW: constants.WINDOW,
    LANES: 64,
    HEADS: heads,
    HEAD_SIZE: constants.HEAD_SIZE,
    HEAD_VEC4: headVec4,
    Y_STRIDE: constants.Y_STRIDE,
  };
  const merged = await runKernel(
    device,
    attentionMerge,
    merge,
    { parts: floatsOf(computed, "y") as Float32Array<ArrayBuffer>, rows: data.rows, y: data.y },
    [Math.ceil((heads * headVec4) / 64), numRows],
  );
  return { ...computed, ...merged };
}

function reference(shape: Shape, row: Row, head: number): Float64Array {
  const { heads, kvHeads = heads, headSize, window = Infinity, cacheDtype } = shape;
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
    1 / Math.sqrt(headSize),
  );
}

function rowsOf(slot: number, start: number, end: number): Row[] {
  return Array.from({ length: end - start }, (_, i) => ({ slot, position: start + i }));
}

const CASES = KERNELS.flatMap((kernel) => (["f32", "f16"] as const).map((cacheDtype) => ({ kernel, cacheDtype })));

describe.each(CASES)("$kernel over a cache of $cacheDtype", ({ kernel, cacheDtype }) => {
  const shapes = [
    { heads: 1, headSize: 1 },
    { heads: 3, headSize: 5 },
    { heads: 2, headSize: 16 },
    { heads: 2, headSize: 33 },
    { heads: 9, headSize: 8 },
    { heads: 1, headSize: 64 },
    { heads: 6, kvHeads: 2, headSize: 12 },
    { heads: 4, kvHeads: 1, headSize: 33 },
    { heads: 4, kvHeads: 2, headSize: 64 },
    { heads: 10, kvHeads: 2, headSize: 7 },
    { heads: 14, kvHeads: 2, headSize: 20 },
    { heads: 1, headSize: 260 },
    { heads: 1, headSize: MAX_HEAD_SIZE },
  ].filter(({ headSize }) => kernel === "attention" || headSize <= 4 * QUAD_HEAD_VEC4);

  it.each(shapes)("with $heads heads of $headSize is softmax(q k) v", async ({ heads, kvHeads = heads, headSize }) => {
    const shape = { kernel, heads, kvHeads, headSize, cacheDtype };
    const steps = [
      [...rowsOf(0, 0, 70), ...rowsOf(1, 0, 3)],
      [...rowsOf(1, 3, 18), ...rowsOf(0, 70, 71)],
    ];
    const result = await attend(shape, steps);
    const stride = strideOf(heads * headSize);
    (steps[1] ?? []).forEach((row, r) => {
      for (let head = 0; head < heads; head++) {
        const at = r * stride + head * headSize;
        expectClose(result.subarray(at, at + headSize), reference(shape, row, head), 1e-5);
      }
    });
  });

  it.each(cacheDtype === "f32" ? [1, 16, 70, 1000] : [18])(
    "sees %i positions, its own included, where it has a window",
    async (window) => {
      const shape = { kernel, heads: 4, kvHeads: 2, headSize: 12, window, cacheDtype };
      const steps = [
        [...rowsOf(0, 0, 61), ...rowsOf(1, 0, 3)],
        [...rowsOf(1, 3, 18), ...rowsOf(0, 61, 71)],
      ];
      const result = await attend(shape, steps);
      (steps[1] ?? []).forEach((row, r) => {
        for (let head = 0; head < shape.heads; head++) {
          const at = r * strideOf(shape.heads * shape.headSize) + head * shape.headSize;
          expectClose(result.subarray(at, at + shape.headSize), reference(shape, row, head), 1e-5);
        }
      });
    },
  );

  it("holds for a context of several splits, the last of them begun and ended within it", async () => {
    for (const [headSize, position] of [
      [12, 255],
      [80, 311],
    ] as const) {
      if (kernel === "attention-quad" && headSize > 4 * QUAD_HEAD_VEC4) continue;
      const shape = { kernel, heads: 1, headSize, cacheDtype };
      const row = { slot: 0, position };
      const result = await attend(shape, [rowsOf(0, 0, position), [row]]);
      expectClose(result.subarray(0, headSize), reference(shape, row, 0), 1e-5);
    }
  });

  it.each([
    { window: UNLIMITED_WINDOW, sees: "all" },
    { window: 50, sees: "a window" },
  ])("gives a row that sees $sees the same bits, whole, in pieces, alone or among others", async ({ window }) => {
    const shape = { kernel, heads: 2, headSize: 12, window, cacheDtype };
    const row = { slot: 0, position: 137 };
    const others = rowsOf(2, 0, 40);
    const whole = await attend(shape, [rowsOf(0, 0, 138)]);
    const pieces = await attend(shape, [rowsOf(0, 0, 5), [...others, ...rowsOf(0, 5, 64)], rowsOf(0, 64, 137), [row]]);
    const stride = strideOf(24);
    expect(differingWords(whole.slice(137 * stride).buffer, pieces.slice().buffer)).toBe(0);
  });
});

it.each(KERNELS)(
  "%s: query heads that share a load of keys and values have the bits of each by itself",
  async (kernel) => {
    const [heads, shared] = kernel === "attention" ? [12, [3, 6]] : [14, [2, 3, 4]];
    const shape = { kernel, heads, kvHeads: 2, headSize: 12, cacheDtype: "f16" } as const;
    const steps = [rowsOf(0, 0, 70), [...rowsOf(1, 0, 2), ...rowsOf(0, 70, 73)]];
    const alone = await attend({ ...shape, queries: 1 }, steps);
    expect(alone.some((value) => value !== 0)).toBe(true);
    for (const queries of shared) {
      const together = await attend({ ...shape, queries }, steps);
      expect(differingWords(alone.slice().buffer, together.slice().buffer)).toBe(0);
    }
  },
);

it("quads take as many heads of a group as they can, as evenly as they can", () => {
  expect(quadShares(12, 12)).toEqual({ QUERIES: 1, LANES: 16, workgroups: 3 }); // GPT-2
  expect(quadShares(25, 25)).toEqual({ QUERIES: 1, LANES: 16, workgroups: 7 }); // GPT-2 XL: three of 28 are idle
  expect(quadShares(9, 3)).toEqual({ QUERIES: 3, LANES: 4, workgroups: 3 }); // SmolLM2-135M
  expect(quadShares(14, 2)).toEqual({ QUERIES: 4, LANES: 8, workgroups: 2 }); // Qwen2.5-0.5B: 4 and 3
  expect(quadShares(32, 8)).toEqual({ QUERIES: 4, LANES: 16, workgroups: 2 }); // Llama-3.2-1B
  expect(quadShares(10, 2)).toEqual({ QUERIES: 3, LANES: 8, workgroups: 2 });
  expect(quadShares(4, 1)).toEqual({ QUERIES: 2, LANES: 4, workgroups: 2 });
  expect(quadShares(1, 1)).toEqual({ QUERIES: 1, LANES: 4, workgroups: 1 });
});

it("as many heads share a load as a workgroup has room for", () => {
  expect(sharedQueries(9, 3, 16)).toBe(3); // SmolLM2-135M
  expect(sharedQueries(14, 2, 16)).toBe(7); // Qwen2.5-0.5B
  expect(sharedQueries(16, 8, 32)).toBe(2); // Qwen3-0.6B
  expect(sharedQueries(4, 1, 64)).toBe(4); // Gemma-3-270m
  expect(sharedQueries(12, 12, 16)).toBe(1);
  expect(sharedQueries(32, 2, 16)).toBe(8);
  expect(sharedQueries(22, 2, 16)).toBe(1); // 11 have no room, and no other number divides them
  expect(sharedQueries(8, 1, 256)).toBe(1);
});

describe("splits", () => {
  it.each([
    { heads: 2, headSize: 12 },
    { heads: 1, headSize: 64 },
    { heads: 3, headSize: 5 },
    { heads: 1, headSize: 80 },
    { heads: 4, kvHeads: 2, headSize: 16 },
    { heads: 1, headSize: 260 },
    { heads: 2, headSize: 12, window: 200 },
  ])(
    "give the bits that one workgroup gives ($heads heads of $headSize, window: $window)",
    async ({ heads, kvHeads = heads, headSize, window = UNLIMITED_WINDOW }) => {
      const shape = { heads, kvHeads, headSize, window, cacheDtype: "f16" } as const;
      const steps = [rowsOf(0, 0, 299), [...rowsOf(1, 0, 2), ...rowsOf(0, 299, 301)]];
      const alone = await attend({ ...shape, kernel: "attention" }, steps);
      const inSplits = await attend({ ...shape, kernel: "attention in splits" }, steps);
      expect(alone.some((value) => value !== 0)).toBe(true);
      expect(differingWords(alone.slice().buffer, inSplits.slice().buffer)).toBe(0);
    },
  );

  it("are for steps of few rows and a long context, and have their room", () => {
    expect([isSplit(1, 512), isSplit(64, 1024)]).toEqual([true, true]);
    expect([isSplit(1, 511), isSplit(65, 1024)]).toEqual([false, false]);
    // 64 rows of 12 heads, 8 splits of 128: 64 values, highest and total, padded to four
    expect(splitFloats({ numHeads: 12, headDim: 64 }, { maxRows: 256, maxLength: 1024 })).toBe(64 * 12 * 8 * 68);
    expect(splitFloats({ numHeads: 12, headDim: 64 }, { maxRows: 4, maxLength: 1000 })).toBe(4 * 12 * 8 * 68);
    for (const headVec4 of [1, 3, 16, 20, 32, 65, 256]) {
      const { LANES, SPLIT } = attentionTile(headVec4);
      expect(SPLIT % LANES).toBe(0);
      expect(SPLIT).toBeGreaterThan(64);
    }
  });
});
