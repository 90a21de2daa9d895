// The table that all sections under load have.

import type { LoadCell } from "../load/load-cell.ts";
import type { ResultTable } from "./bench-result.ts";
import { formatSpread } from "./format-figure.ts";
import { tableOf, type Columns } from "./tables-and-charts.ts";

const COMMON: Columns<LoadCell> = {
  "wall, ms": (cell) => cell.wall_ms,
  "E2EL p50, ms": (cell) => cell.p50_e2el_ms,
  "E2EL p95, ms": (cell) => cell.p95_e2el_ms,
  "TTFT p50, ms": (cell) => cell.p50_ttft_ms,
  "TTFT p95, ms": (cell) => cell.p95_ttft_ms,
  "TPOT p50, ms": (cell) => cell.p50_tpot_ms,
  "ITL p50, ms": (cell) => cell.p50_itl_ms,
  "ITL p95, ms": (cell) => cell.p95_itl_ms,
  "tokens/s": (cell) => cell.output_tokens_per_s,
  spread: (cell) => formatSpread(cell.spread),
};

/** @param columns before those that all tables of cells have */
export function cellTable(title: string, cells: readonly LoadCell[], columns: Columns<LoadCell>): ResultTable {
  return tableOf(title, cells, { ...columns, ...COMMON });
}
