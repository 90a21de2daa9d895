import type { NormWeights } from "../../models/graph.ts";
import type { KernelCompiler } from "./kernel.ts";
import { matmulLane, matmulRow, matmulSkinny, matmulSubgroup, matmulTiled } from "./kernels/matmul.ts";

/** Constants of one product, whatever the kernel. */
export interface MatmulShape {
  readonly K4: number;
  readonly N4: number;
  readonly Y4: number;
  readonly SAMPLES_ONLY: boolean;
  readonly WEIGHTS_DTYPE: number;
  readonly EPILOGUE: number;
}

/** How rows of WIDTH values are normalised. */
export interface NormShape {
  readonly RMS: boolean;
  readonly WIDTH: number;
  readonly EPSILON: number;
}

export function normShape({ kind, epsilon }: NormWeights, WIDTH: number): NormShape {
  return { RMS: kind === "rms", WIDTH, EPSILON: epsilon };
}

/** Of a product that is the model's head, whose kernel says of the logits what the sampler wants to know. */
export interface HeadShape {
  readonly VOCABULARY: number;
  /** That of the first column. */
  readonly FIRST_TOKEN: number;
}

/** What GPUs' kernels do besides multiplying; those for software adapters leave it to others. */
export interface MatmulExtras {
  /** Of the input: it is to be normalised first. */
  readonly norm?: NormShape | null;
  readonly head?: HeadShape | null;
}

/** A kernel for steps of up to `maxRows` rows. */
export interface MatmulVariant {
  /** Of the kernel and its shape; tuning is remembered by it. */
  readonly name: string;
  readonly maxRows: number;
  pipeline(compiler: KernelCompiler, shape: MatmulShape, extras?: MatmulExtras): Promise<GPUComputePipeline>;
  workgroups(shape: MatmulShape, rows: number): readonly [number, number];
}

const LANES = 32;

const row: MatmulVariant = {
  name: "row",
  maxRows: 1,
  pipeline: (compiler, shape) => compiler.pipeline(matmulRow, { ...shape, LANES }),
  workgroups: (shape, rows) => [Math.ceil(shape.N4 / LANES), rows],
};

function lane(maxRows: number): MatmulVariant {
  return {
    name: "lane",
    maxRows,
    pipeline: (compiler, shape) => compiler.pipeline(matmulLane, { ...shape, LANES }),
    workgroups: (shape, rows) => [Math.ceil(shape.N4 / LANES), Math.ceil(rows / 4)],
  };
}

const subgroup: MatmulVariant = {
  name: "subgroup",
  maxRows: Infinity,
  pipeline: (compiler, shape) => compiler.pipeline(matmulSubgroup, { ...shape, LANES }),
  workgroups: (shape, rows) => [Math.ceil(shape.N4 / LANES), Math.ceil(rows / 8)],
};

function extraConstants({ norm, head }: MatmulExtras = {}) {
  const { RMS, WIDTH, EPSILON } = norm ?? { RMS: false, WIDTH: 0, EPSILON: 0 };
  const { VOCABULARY, FIRST_TOKEN } = head ?? { VOCABULARY: 0, FIRST_TOKEN: 0 };
  return { NORM: Boolean(norm), RMS, WIDTH, EPSILON, VOCABULARY, FIRST_TOKEN };
}

/** A workgroup of `columns` by `splits` lanes: 16 bytes of workgroup memory a lane and row, of 16 KiB that every adapter has. */
function skinny(rows: number, columns: number, splits: number, maxRows = rows): MatmulVariant {
  const shapeOfGroup = { COLUMNS: columns, SPLITS: splits, ROWS: rows };
  return {
    name: `skinny ${rows} x ${columns} x ${splits}`,
    maxRows,
    pipeline: (compiler, shape, extras) =>
      compiler.pipeline(matmulSkinny, { ...shape, ...extraConstants(extras), ...shapeOfGroup }),
    workgroups: (shape, numRows) => [Math.ceil(shape.N4 / columns), Math.ceil(numRows / rows)],
  };
}

/**
 * A workgroup of `columnLanes` by `rowLanes` threads, each `rows` rows by `vecs` times four columns: 512 bytes of workgroup
 * memory for each four columns of the tile and 128 for each of its rows.
 */
function tiled(columnLanes: number, rowLanes: number, rows: number, vecs: number): MatmulVariant {
  const shapeOfGroup = { COLUMN_LANES: columnLanes, ROW_LANES: rowLanes, ROWS: rows, VECS: vecs };
  const [tileRows, tileN4] = [rowLanes * rows, columnLanes * vecs];
  return {
    name: `tiled ${tileRows} x ${4 * tileN4} by ${columnLanes * rowLanes}`,
    maxRows: Infinity,
    pipeline: (compiler, shape, extras) =>
      compiler.pipeline(matmulTiled, { ...shape, ...extraConstants(extras), ...shapeOfGroup }),
    workgroups: (shape, numRows) => [Math.ceil(shape.N4 / tileN4), Math.ceil(numRows / tileRows)],
  };
}

/** What of an adapter decides which kernels suit it. */
export interface AdapterTraits {
  readonly isSoftware: boolean;
  readonly hasSubgroups: boolean;
}

/** Kernels for steps of up to so many rows, the usual one first. */
export type MatmulChoice = readonly [MatmulVariant, ...MatmulVariant[]];

/**
 * By ascending rows: the first class whose maxRows reaches is a step's. All kernels give the same bits, so which one of a
 * class suits is a matter of time alone. GPUs differ too much to say beforehand: see matmul-tuning.ts.
 *
 * On SwiftShader the lane kernel takes for 2 rows what the row kernel takes for them one by one; the tiled kernel takes
 * twice what lane takes (64 rows, 768 by 768), and 0.9 s to compile where lane takes 0.1 s. For eight rows the subgroup
 * kernel takes 0.6 times what lane takes, there and on llvmpipe; for four it would take what it takes for eight.
 */
export function matmulChoices({ isSoftware, hasSubgroups }: AdapterTraits): readonly MatmulChoice[] {
  if (isSoftware) return hasSubgroups ? [[row], [lane(4)], [subgroup]] : [[row], [lane(Infinity)]];
  return [
    [skinny(1, 16, 8), skinny(1, 8, 16), skinny(1, 16, 16), skinny(1, 32, 8)],
    [skinny(4, 16, 8), skinny(4, 8, 16), skinny(4, 16, 16), skinny(4, 32, 4)],
    [skinny(8, 16, 8), skinny(8, 8, 16), skinny(8, 32, 4)],
    [skinny(16, 8, 8), skinny(16, 16, 4), skinny(16, 8, 4)],
    [
      tiled(8, 8, 4, 1),
      tiled(8, 8, 8, 1),
      tiled(16, 8, 4, 1),
      tiled(8, 8, 8, 2),
      tiled(16, 16, 4, 1),
      skinny(16, 8, 8, Infinity),
      skinny(16, 16, 4, Infinity),
    ],
  ];
}

/** The usual ones: one a class. */
export function usualMatmuls(adapter: AdapterTraits): readonly MatmulVariant[] {
  return matmulChoices(adapter).map(([usual]) => usual);
}
