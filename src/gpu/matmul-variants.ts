import type { KernelCompiler } from "./kernel.ts";
import { matmulLane, matmulRow, matmulSkinny, matmulTiled } from "./kernels/matmul.ts";

/** Constants of one product, whatever the kernel. */
export interface MatmulShape {
  readonly K4: number;
  readonly N4: number;
  readonly Y4: number;
  readonly SAMPLES_ONLY: boolean;
  readonly WEIGHTS_DTYPE: number;
  readonly EPILOGUE: number;
}

/** A kernel for steps of up to `maxRows` rows. */
export interface MatmulVariant {
  readonly maxRows: number;
  pipeline(compiler: KernelCompiler, shape: MatmulShape): Promise<GPUComputePipeline>;
  workgroups(shape: MatmulShape, rows: number): readonly [number, number];
}

const LANES = 32;

const row: MatmulVariant = {
  maxRows: 1,
  pipeline: (compiler, shape) => compiler.pipeline(matmulRow, { ...shape, LANES }),
  workgroups: (shape, rows) => [Math.ceil(shape.N4 / LANES), rows],
};

function lane(ROWS: number, maxRows = ROWS): MatmulVariant {
  return {
    maxRows,
    pipeline: (compiler, shape) => compiler.pipeline(matmulLane, { ...shape, LANES, ROWS }),
    workgroups: (shape, rows) => [Math.ceil(shape.N4 / LANES), Math.ceil(rows / ROWS)],
  };
}

function skinny(rows: number): MatmulVariant {
  // 128 lanes; workgroup memory is 16 bytes a lane and row, and 16 KiB is what every adapter has.
  const COLUMNS = rows > 8 ? 8 : 16;
  const SPLITS = 8;
  return {
    maxRows: rows,
    pipeline: (compiler, shape) => compiler.pipeline(matmulSkinny, { ...shape, COLUMNS, SPLITS, ROWS: rows }),
    workgroups: (shape) => [Math.ceil(shape.N4 / COLUMNS), 1],
  };
}

const tiled: MatmulVariant = {
  maxRows: Infinity,
  pipeline: (compiler, shape) => compiler.pipeline(matmulTiled, { ...shape }),
  workgroups: (shape, rows) => [Math.ceil(shape.N4 / 8), Math.ceil(rows / 32)],
};

/**
 * By ascending rows: the first whose maxRows reaches is the one to take. All give the same bits.
 *
 * A software adapter has no use for the tiled kernel: on SwiftShader it took twice the time of the lane kernel's tiles of
 * 16 rows (64 rows, 256 by 1,024), and 0.9 s to compile where those take 0.05 s.
 */
export function matmulVariants(isSoftware: boolean): readonly MatmulVariant[] {
  return isSoftware
    ? [row, lane(4), lane(16, Infinity)]
    : [skinny(1), skinny(2), skinny(4), skinny(8), skinny(16), tiled];
}
