import type { WeightsDtype } from "../../../protocol/config.ts";
import { CHUNK, GROUP_COLUMNS, GROUP_PANELS, PANEL_FORMATS } from "../kernels/panels.ts";

/** Sizes of a packed matrix [k, n]: see kernels/panels.ts for the layout. */
interface PanelShape {
  readonly dtype: WeightsDtype;
  /** Multiples of 32; the padding is zero. */
  readonly kStride: number;
  readonly nStride: number;
  /** Bytes of a group: 32 columns, all of K. */
  readonly groupBytes: number;
  readonly bytes: number;
}

/** A packed matrix in memory. */
export interface PanelMatrix extends PanelShape {
  readonly address: number;
}

export function panelShape(k: number, n: number, dtype: WeightsDtype): PanelShape {
  const kStride = strideOf(k);
  const nStride = strideOf(n);
  const groupBytes = GROUP_PANELS * (kStride / CHUNK) * PANEL_FORMATS[dtype].chunkBytes;
  return { dtype, kStride, nStride, groupBytes, bytes: (nStride / GROUP_COLUMNS) * groupBytes };
}

/** Returns the width of a row of `size` values in memory. Rows end in zeros, so that inner loops have no remainders. */
export function strideOf(size: number): number {
  const multiple = Math.max(CHUNK, GROUP_COLUMNS);
  return Math.ceil(size / multiple) * multiple;
}
