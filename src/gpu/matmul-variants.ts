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

/** What is normalised before it is multiplied: rows of WIDTH values. */
export interface NormShape {
  readonly WIDTH: number;
  readonly EPSILON: number;
}

/** A kernel for steps of up to `maxRows` rows. */
export interface MatmulVariant {
  readonly maxRows: number;
  /** @param norm of the input, by the kernel itself: the kernels for software adapters don't. */
  pipeline(compiler: KernelCompiler, shape: MatmulShape, norm: NormShape | null): Promise<GPUComputePipeline>;
  workgroups(shape: MatmulShape, rows: number): readonly [number, number];
}

const LANES = 32;

const row: MatmulVariant = {
  maxRows: 1,
  pipeline: (compiler, shape) => compiler.pipeline(matmulRow, { ...shape, LANES }),
  workgroups: (shape, rows) => [Math.ceil(shape.N4 / LANES), rows],
};

function lane(maxRows: number): MatmulVariant {
  return {
    maxRows,
    pipeline: (compiler, shape) => compiler.pipeline(matmulLane, { ...shape, LANES }),
    workgroups: (shape, rows) => [Math.ceil(shape.N4 / LANES), Math.ceil(rows / 4)],
  };
}

const subgroup: MatmulVariant = {
  maxRows: Infinity,
  pipeline: (compiler, shape) => compiler.pipeline(matmulSubgroup, { ...shape, LANES }),
  workgroups: (shape, rows) => [Math.ceil(shape.N4 / LANES), Math.ceil(rows / 8)],
};

function normConstants(norm: NormShape | null) {
  return { NORM: norm !== null, ...(norm ?? { WIDTH: 0, EPSILON: 0 }) };
}

function skinny(rows: number): MatmulVariant {
  // 128 lanes; workgroup memory is 16 bytes a lane and row, and 16 KiB is what every adapter has.
  const COLUMNS = rows > 8 ? 8 : 16;
  const SPLITS = 8;
  return {
    maxRows: rows,
    pipeline: (compiler, shape, norm) =>
      compiler.pipeline(matmulSkinny, { ...shape, ...normConstants(norm), COLUMNS, SPLITS, ROWS: rows }),
    workgroups: (shape) => [Math.ceil(shape.N4 / COLUMNS), 1],
  };
}

const tiled: MatmulVariant = {
  maxRows: Infinity,
  pipeline: (compiler, shape, norm) => compiler.pipeline(matmulTiled, { ...shape, ...normConstants(norm) }),
  workgroups: (shape, rows) => [Math.ceil(shape.N4 / 8), Math.ceil(rows / 32)],
};

/** What of an adapter decides which kernels suit it. */
export interface AdapterTraits {
  readonly isSoftware: boolean;
  readonly hasSubgroups: boolean;
}

/**
 * By ascending rows: the first whose maxRows reaches is the one to take. All give the same bits.
 *
 * On SwiftShader the lane kernel takes for 2 rows what the row kernel takes for them one by one; the tiled kernel takes
 * twice what lane takes (64 rows, 768 by 768), and 0.9 s to compile where lane takes 0.1 s. For eight rows the subgroup
 * kernel takes 0.6 times what lane takes, there and on llvmpipe; for four it would take what it takes for eight.
 */
export function matmulVariants({ isSoftware, hasSubgroups }: AdapterTraits): readonly MatmulVariant[] {
  if (!isSoftware) return [skinny(1), skinny(4), skinny(8), skinny(16), tiled];
  return hasSubgroups ? [row, lane(4), subgroup] : [row, lane(Infinity)];
}
