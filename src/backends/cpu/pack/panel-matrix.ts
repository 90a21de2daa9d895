import type { WeightLayout } from "../../../files/packing.ts";
import {
  CHUNK,
  GROUP_COLUMNS,
  GROUP_PANELS,
  kernelsFor,
  PANEL_COLUMNS,
  panelFormat,
  type ReadBy,
} from "../kernels/panels.ts";

/** Sizes of a packed matrix [k, n]: see kernels/panels.ts for the layout. */
interface MatrixShape {
  readonly layout: WeightLayout;
  readonly readBy: ReadBy;
  /** Multiples of 32; the padding is zero. */
  readonly kStride: number;
  readonly nStride: number;
  /** Bytes of a group: 32 columns, all of K. */
  readonly groupBytes: number;
  readonly bytes: number;
}

export interface PanelMatrix extends MatrixShape {
  readonly address: number;
}

export function panelShape(k: number, n: number, layout: WeightLayout): MatrixShape {
  const kStride = strideOf(k);
  const nStride = strideOf(n);
  const { headBytes, unitChunks, chunkBytes } = panelFormat(layout);
  const chunks = kStride / CHUNK;
  const groupBytes = GROUP_PANELS * ((chunks / unitChunks) * headBytes + chunks * chunkBytes);
  return {
    layout,
    readBy: kernelsFor(layout),
    kStride,
    nStride,
    groupBytes,
    bytes: (nStride / GROUP_COLUMNS) * groupBytes,
  };
}

/** Returns the width of a row of `size` values in memory. Rows end in zeros, so that inner loops have no remainders. */
export function strideOf(size: number): number {
  const multiple = Math.max(CHUNK, GROUP_COLUMNS);
  return Math.ceil(size / multiple) * multiple;
}

export function panelAddress({ address, groupBytes }: PanelMatrix, n: number): number {
  return address + Math.floor(n / PANEL_COLUMNS) * (groupBytes / GROUP_PANELS);
}
