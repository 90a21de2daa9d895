// Writes the cells of a result as CSV (RFC 4180): one row a cell, units in the columns' names.

import type { BenchResult } from "./bench-result.ts";

/** Enough digits for measurements, and short enough to read. */
const DIGITS = 6;

/** Returns the text of a file; null where no section has cells. */
export function reportCsv({ sections }: Pick<BenchResult, "sections">): string | null {
  const rows = sections.flatMap(({ id, cells = [] }) => cells.map((cell) => ({ section: id, ...cell })));
  const [first] = rows;
  if (!first) return null;
  const columns = Object.keys(first) as (keyof typeof first)[];
  const lines = [columns, ...rows.map((row) => columns.map((column) => field(row[column])))];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** Returns a field, empty for a figure that was not, or can't be, measured. */
function field(value: number | string | null): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(Number(value.toPrecision(DIGITS))) : "";
  if (value === null) return "";
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
