import { expect, it } from "vitest";

import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import { KernelCompiler, variantOf, type Dispatch, type StepSize } from "./kernel.ts";
import type { Kernel } from "./define-kernel.ts";
import { attention, attentionMerge, attentionQuad, cacheWrite } from "./kernels/kernels.ts";
import { attentionTile, maxSplits, UNLIMITED_WINDOW } from "./kernels/attention.ts";
import { strideOf } from "./padding.ts";
import { answersOfAttention } from "./same-attention.ts";

const opened = await openTestDevice();
const { device, hasSubgroups } = opened;
const MAX_LENGTH = 512;
const BLOCK_SIZE = 16;

interface Tried {
  readonly kernel: "attention" | "attention-quad";
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly window?: number;
  readonly tileRows: number;
}

type Change = readonly [right: string, wrong: string];

function changed(kernel: Kernel, [right, wrong]: Change): Kernel {
  expect(kernel.code).toContain(right);
  return { ...kernel, name: kernel.name, code: kernel.code.replaceAll(right, wrong) };
}

/** Compares rows with tiles, whose kernel is changed. */
async function isSame(
  { kernel: name, heads, kvHeads, headSize, window = UNLIMITED_WINDOW, tileRows }: Tried,
  change: Change = ["", ""],
): Promise<boolean> {
  const compiler = new KernelCompiler(device);
  const headVec4 = Math.ceil(headSize / 4);
  const cache = {
    HEADS: heads,
    KV_HEADS: kvHeads,
    HEAD_VEC4: headVec4,
    HEAD_SIZE: headSize,
    BLOCK_SIZE,
    MAX_BLOCKS: MAX_LENGTH / BLOCK_SIZE,
    QKV_STRIDE: strideOf((heads + 2 * kvHeads) * headSize),
    CACHE_F16: true,
  };
  const own = { ...cache, SCALE: 0.3, CAP: 0, WINDOW: window, Y_STRIDE: strideOf(heads * headSize), QUERIES: 1 };
  const whole = { ...own, ...attentionTile(headVec4), MAX_SPLITS: maxSplits(headVec4, MAX_LENGTH), ALONE: true };
  const variantFor = (ROWS: number) =>
    name === "attention"
      ? variantOf(attention, { ...whole, ROWS })
      : variantOf(attentionQuad, { ...own, LANES: 4, ROWS });
  const tileVariant = variantFor(tileRows);
  const [write, single, tile] = await Promise.all([
    compiler.compile({ kernel: cacheWrite, constants: { ...cache, LANES: 64 } }),
    compiler.compile(variantFor(1)),
    compiler.compile({ ...tileVariant, kernel: changed(tileVariant.kernel, change) }),
  ]);
  const [bound, given] = [variantFor(1).kernel, changed(tileVariant.kernel, change)];
  const { known, given: found } = await answersOfAttention(
    opened,
    { ...cache, window, maxLength: MAX_LENGTH, tileRows, maxRows: Infinity },
    (buffers) => {
      const alone: Dispatch = {
        name: "single",
        pipeline: single,
        bindGroup: compiler.bind(bound, buffers),
        workgroups: ({ singles }) => [heads, singles],
      };
      const tiled: Dispatch = {
        name: "tile",
        pipeline: tile,
        bindGroup: compiler.bind(given, buffers),
        workgroups: ({ tiles }) => [heads, tiles],
      };
      const writing: Dispatch = {
        name: "write",
        pipeline: write,
        bindGroup: compiler.bind(cacheWrite, buffers),
        workgroups: ({ rows }) => [Math.ceil((kvHeads * headVec4) / 64), rows],
      };
      // Dawn warns of a dispatch of nothing.
      const tried = ({ tiles, singles }: StepSize) => [
        writing,
        ...(tiles > 0 ? [tiled] : []),
        ...(singles > 0 ? [alone] : []),
      ];
      return { single: alone, tried };
    },
  );
  return known === found;
}

/** Compares rows with splits, whose merge is changed. */
async function areSplitsSame(maxRows: number, change: Change = ["", ""]): Promise<boolean> {
  const compiler = new KernelCompiler(device);
  const cache = {
    HEADS: 2,
    KV_HEADS: 1,
    HEAD_VEC4: 3,
    HEAD_SIZE: 12,
    BLOCK_SIZE,
    MAX_BLOCKS: MAX_LENGTH / BLOCK_SIZE,
    QKV_STRIDE: 64,
    CACHE_F16: true,
  };
  const MAX_SPLITS = maxSplits(3, MAX_LENGTH);
  const tile = attentionTile(3);
  const joined = { SPLIT: tile.SPLIT, MAX_SPLITS, WINDOW: UNLIMITED_WINDOW, HEADS: 2, HEAD_SIZE: 12, HEAD_VEC4: 3 };
  const own = { ...cache, ...tile, ...joined, SCALE: 0.3, CAP: 0, Y_STRIDE: strideOf(24), QUERIES: 2, ROWS: 1 };
  const merge = changed(attentionMerge, change);
  const [whole, split, joins] = await Promise.all([
    compiler.compile({ kernel: attention, constants: { ...own, ALONE: true } }),
    compiler.compile({ kernel: attention, constants: { ...own, ALONE: false } }),
    compiler.compile({ kernel: merge, constants: { ...joined, Y_STRIDE: strideOf(24), LANES: 64 } }),
  ]);
  const parts = device.createBuffer({
    size: 4 * 2 * maxRows * MAX_SPLITS * 16,
    usage: GPUBufferUsage.STORAGE,
  });
  const shape = { ...cache, window: UNLIMITED_WINDOW, maxLength: MAX_LENGTH, tileRows: 1, maxRows };
  const dispatch = (
    pipeline: GPUComputePipeline,
    bindGroup: GPUBindGroup,
    workgroups: Dispatch["workgroups"],
  ): Dispatch => ({ name: "tried", pipeline, bindGroup, workgroups });
  const { known, given } = await answersOfAttention(opened, shape, (buffers) => ({
    single: dispatch(whole, compiler.bind(attention, buffers), ({ singles }) => [1, singles]),
    tried: () => [
      dispatch(split, compiler.bind(attention, { ...buffers, y: parts }), ({ rows }) => [1, rows, MAX_SPLITS]),
      dispatch(joins, compiler.bind(merge, { parts, rows: buffers.rows, y: buffers.y }), ({ rows }) => [1, rows]),
    ],
  }));
  return known === given;
}

it("rows in splits are whole rows, and a merge in another order is found out", async () => {
  for (const maxRows of [1, 3, 64]) expect(await areSplitsSame(maxRows)).toBe(true);
  const descending: Change = ["(start + split) *", "(start + position / SPLIT - split) *"];
  for (const maxRows of [1, 64]) expect(await areSplitsSame(maxRows, descending)).toBe(false);
});

const SHAPES: readonly Tried[] = [
  { kernel: "attention", heads: 2, kvHeads: 1, headSize: 12, tileRows: 8 },
  ...(hasSubgroups
    ? ([{ kernel: "attention-quad", heads: 2, kvHeads: 2, headSize: 64, window: 33, tileRows: 4 }] as const)
    : []),
];

it.each(SHAPES)("tiles of $tileRows rows are rows by themselves ($kernel, window: $window)", async (shape) => {
  expect(await isSame(shape)).toBe(true);
});

const [wide, quads] = SHAPES;
const FAULTS: readonly { what: string; shape: Tried | undefined; change: readonly [string, string] }[] = [
  { what: "forgets its last key", shape: quads, change: ["tile + corner <= position", "tile + corner < position"] },
  { what: "forgets its last key", shape: wide, change: ["scored <= position", "scored < position"] },
  { what: "is off in the last bit", shape: quads, change: ["* SCALE);", "* (SCALE * 1.0000001));"] },
  { what: "repeats the first row", shape: wide, change: ["own.first + q / QUERIES,", "own.first,"] },
  { what: "writes nothing", shape: quads, change: ["if (is_own) {", "if (is_own && step.num_rows == 0u) {"] },
  {
    what: "sees one position too few",
    shape: quads,
    change: ["min(position + 1u, WINDOW)", "min(position + 1u, WINDOW - 1u)"],
  },
];

it.each(FAULTS.filter(({ shape }) => shape !== undefined))(
  "a kernel for tiles that $what is found out ($shape.kernel)",
  async ({ shape, change }) => {
    expect(shape && (await isSame(shape, change))).toBe(false);
  },
);
