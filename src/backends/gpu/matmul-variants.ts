import type { RowTile } from "../../engine/row-tiles.ts";
import type { NormWeights } from "../../models/graph.ts";
import { variantOf, type KernelVariant } from "./kernel.ts";
import {
  matmulAny,
  matmulInteger,
  matmulIntegerPacked,
  matmulLane,
  matmulRow,
  matmulSkinny,
  matmulSubgroup,
  matmulTiled,
} from "./kernels/kernels.ts";
import type { KernelStyle, KernelTraits } from "./kernel-style.ts";
import { Rank } from "./later-pipelines.ts";
import type { layoutConstants } from "./matrix-layout.ts";

/** Constants of one product that all kernels share. */
export interface MatmulShape extends ReturnType<typeof layoutConstants> {
  readonly K4: number;
  readonly N4: number;
  readonly Y4: number;
  readonly SAMPLES_ONLY: boolean;
  readonly EPILOGUE: number;
}

/** Constants for normalising rows of WIDTH values. */
interface NormShape {
  readonly RMS: boolean;
  readonly WIDTH: number;
  readonly EPSILON: number;
}

export function normShape({ kind, epsilon }: NormWeights, WIDTH: number): NormShape {
  return { RMS: kind === "rms", WIDTH, EPSILON: epsilon };
}

/** Constants of the model's head, whose kernel also summarises the logits for the sampler. */
export interface HeadShape {
  readonly VOCABULARY: number;
  /** Token of the first column. */
  readonly FIRST_TOKEN: number;
}

/** The additional work of the kernels for GPUs, which separate kernels do in the plain style. */
export interface MatmulExtras {
  /** How to normalise the input first. */
  readonly norm?: NormShape | null;
  readonly head?: HeadShape | null;
}

/** A kernel for steps of up to `maxRows` rows. */
export interface MatmulVariant extends RowTile {
  /** Identifies the kernel and its shape in the tuning store. */
  readonly name: string;
  /** Its place in the order of compilation, unless a product begins with it. */
  readonly rank: Rank;
  kernel(shape: MatmulShape, extras?: MatmulExtras): KernelVariant;
  workgroups(shape: MatmulShape, rows: number): readonly [number, number];
}

/** Whether the norm before a kernel is a dispatch of its own: with so many rows that costs less than a norm in each workgroup. */
export function isNormApart({ tileRows }: MatmulVariant): boolean {
  return tileRows >= 8;
}

const LANES = 32;
/** Rows that a lane of the kernel computes. */
const LANE_ROWS = 4;
const SUBGROUP_ROWS = 8;

/** A workgroup's share of a product. */
interface Tile {
  readonly rows: number;
  /** Columns over 4. */
  readonly columns: number;
  /** [any] */
  readonly maxRows?: number;
  readonly rank?: Rank;
}

function inTiles(name: string, tile: Tile, kernel: MatmulVariant["kernel"]): MatmulVariant {
  const { rows: tileRows, columns, maxRows = Infinity } = tile;
  return {
    name,
    rank: tile.rank ?? (maxRows === Infinity ? Rank.prompts : Rank.batches),
    maxRows,
    tileRows,
    kernel,
    workgroups: ({ N4 }, rows) => [Math.ceil(N4 / columns), Math.ceil(rows / tileRows)],
  };
}

/** One pipeline for all products: its sizes and its epilogue are in the binding "product". */
const any = inTiles(
  "any",
  { rows: LANE_ROWS, columns: LANES },
  ({ K4: _k, N4: _n, Y4: _y, SAMPLES_ONLY: _s, EPILOGUE: _e, ...layout }) => variantOf(matmulAny, { ...layout, LANES }),
);

/** Returns the data of a product for `any`: see shaders/matmul-any.wgsl. */
export function packProduct({ K4, N4, Y4, EPILOGUE, SAMPLES_ONLY }: MatmulShape): Uint32Array<ArrayBuffer> {
  return Uint32Array.of(K4, N4, Y4, EPILOGUE, Number(SAMPLES_ONLY));
}

const row = inTiles("row", { rows: 1, columns: LANES, maxRows: 1, rank: Rank.answers }, (shape) =>
  variantOf(matmulRow, { ...shape, LANES }),
);

const lane = (maxRows: number) =>
  inTiles("lane", { rows: LANE_ROWS, columns: LANES, maxRows }, (shape) => variantOf(matmulLane, { ...shape, LANES }));

const subgroup = inTiles("subgroup", { rows: SUBGROUP_ROWS, columns: LANES }, (shape) =>
  variantOf(matmulSubgroup, { ...shape, LANES }),
);

function extraConstants({ norm, head }: MatmulExtras = {}) {
  const { RMS, WIDTH, EPSILON } = norm ?? { RMS: false, WIDTH: 0, EPSILON: 0 };
  const { VOCABULARY, FIRST_TOKEN } = head ?? { VOCABULARY: 0, FIRST_TOKEN: 0 };
  return { NORM: Boolean(norm), RMS, WIDTH, EPSILON, VOCABULARY, FIRST_TOKEN };
}

/** Returns a kernel of `columns` by `splits` lanes. Takes 16 bytes of workgroup memory (of at least 16 KiB) per lane and row. */
function skinny(rows: number, columns: number, splits: number, maxRows = rows): MatmulVariant {
  const group = { COLUMNS: columns, SPLITS: splits, ROWS: rows };
  return inTiles(`skinny ${rows} x ${columns} x ${splits}`, { rows, columns, maxRows }, (shape, extras) =>
    variantOf(matmulSkinny, { ...shape, ...extraConstants(extras), ...group }),
  );
}

/**
 * Returns a kernel of `columnLanes` by `rowLanes` lanes, each for `rows` rows by `vecs` times four columns. Takes 512 bytes of
 * workgroup memory per four columns of the tile and 128 per row.
 */
function tiled(columnLanes: number, rowLanes: number, rows: number, vecs: number): MatmulVariant {
  const group = { COLUMN_LANES: columnLanes, ROW_LANES: rowLanes, ROWS: rows, VECS: vecs };
  const tile = { rows: rowLanes * rows, columns: columnLanes * vecs };
  const name = `tiled ${tile.rows} x ${4 * tile.columns} by ${columnLanes * rowLanes}`;
  return inTiles(name, tile, (shape, extras) =>
    variantOf(matmulTiled, { ...shape, ...extraConstants(extras), ...group }),
  );
}

/**
 * Returns the kernels of engines whose activations are integers, by ascending rows: the last serves steps of any size until
 * the others are compiled. Nothing is measured: these are never candidates beside kernels of floats.
 */
export function integerMatmuls({ style, hasPackedDots = false }: KernelTraits): readonly MatmulVariant[] {
  const kernel = hasPackedDots ? matmulIntegerPacked : matmulInteger;
  const integer = (rows: number, columns: number, splits: number, maxRows = rows) =>
    inTiles(`integer ${rows} x ${columns} x ${splits}`, { rows, columns, maxRows }, (shape) =>
      variantOf(kernel, { ...shape, COLUMNS: columns, SPLITS: splits, ROWS: rows }),
    );
  if (style === "plain") return [integer(LANE_ROWS, LANES, 1, Infinity)];
  return [integer(1, 16, 8), integer(4, 16, 8), integer(8, 16, 4, Infinity)];
}

/** Candidates for steps of up to the same number of rows, the default first. */
export type MatmulChoice = readonly [MatmulVariant, ...MatmulVariant[]];

/**
 * Returns the classes of kernels by ascending rows. A step uses the first class with enough maxRows. All kernels give the
 * same bits, so only their speed matters, and GPUs differ too much to predict it: see matmul-tuning.ts.
 *
 * On SwiftShader the lane kernel takes as long for 2 rows as the row kernel for one after the other. The tiled kernel takes
 * twice as long as lane (64 rows, 768 by 768), and compiles in 0.9 s instead of 0.1 s. For eight rows the subgroup kernel
 * takes 0.6 times as long as lane, also on llvmpipe; four rows would take it as long as eight.
 */
export function matmulChoices({ style, hasSubgroups, hasFewRegisters = false }: KernelTraits): readonly MatmulChoice[] {
  if (style === "plain") return hasSubgroups ? [[row], [lane(4)], [subgroup]] : [[row], [lane(Infinity)]];
  return [
    [skinny(1, 16, 8), skinny(1, 8, 16), skinny(1, 16, 16)],
    [skinny(4, 16, 8), skinny(4, 8, 16), skinny(4, 16, 16), skinny(4, 32, 4)],
    [skinny(8, 16, 8), skinny(8, 8, 16)],
    [skinny(16, 8, 8), hasFewRegisters ? skinny(8, 16, 8, 16) : skinny(16, 8, 4)],
    [tiled(8, 8, 4, 1), tiled(16, 8, 4, 1), tiled(16, 16, 4, 1), skinny(16, 8, 8, Infinity)],
  ];
}

/**
 * Returns the kernels that steps of any size can begin with, the best first; the others are compiled later. The plain one is a
 * single pipeline for all products: compared with the kernel for one row it takes twice as long for one row, and half as long
 * for four. The fused one decodes about as fast as the best, since steps of few rows wait for the weights, and reads them once
 * for as many rows as any such kernel.
 */
export function firstMatmuls(matmuls: readonly MatmulVariant[], style: KernelStyle): readonly MatmulVariant[] {
  if (style === "plain") return [any, ...matmuls.toReversed()];
  const ofFewRows = matmuls.filter(({ maxRows }) => maxRows < Infinity);
  return [...ofFewRows.toReversed(), ...matmuls.slice(ofFewRows.length)];
}

export function defaultMatmuls(traits: KernelTraits): readonly MatmulVariant[] {
  return matmulChoices(traits).map(([first]) => first);
}
