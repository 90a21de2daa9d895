// The figures that the tables of all load cells have.

import type { LoadCell } from "../load/load-cell.ts";
import type { Figure } from "./bench-result.ts";
import { formatSpread } from "./format-figure.ts";

export const CELL_COLUMNS: readonly string[] = [
  "wall, ms",
  "E2EL p50, ms",
  "E2EL p95, ms",
  "TTFT p50, ms",
  "TTFT p95, ms",
  "TPOT p50, ms",
  "ITL p50, ms",
  "ITL p95, ms",
  "tokens/s",
  "spread",
];

/** Returns one figure for each of CELL_COLUMNS. */
export function cellFigures(cell: LoadCell): Figure[] {
  return [
    cell.wall_ms,
    cell.p50_e2el_ms,
    cell.p95_e2el_ms,
    cell.p50_ttft_ms,
    cell.p95_ttft_ms,
    cell.p50_tpot_ms,
    cell.p50_itl_ms,
    cell.p95_itl_ms,
    cell.output_tokens_per_s,
    formatSpread(cell.spread),
  ];
}
