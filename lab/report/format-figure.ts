import { growthExponent } from "../statistics.ts";
import { groupedNumber } from "../../src/protocol/grouped-number.ts";
import type { Figure } from "./bench-result.ts";

/** Formats a figure with about three digits: 0.042, 3.14, 25.1, 1,729. Counts stay whole. */
export function formatFigure(figure: Figure): string {
  if (figure === null) return "–";
  if (typeof figure === "string") return figure;
  if (!Number.isFinite(figure)) return Number.isNaN(figure) ? "–" : "∞";
  const size = Math.abs(figure);
  const digits = Number.isInteger(figure) || size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3;
  return groupedNumber(figure, digits);
}

/** "±4%" */
export function formatSpread(spread: number): string {
  return Number.isFinite(spread) ? `±${formatFigure(Math.round(100 * spread))}%` : "–";
}

/** Returns "2.4 times (±7%)" of what formatRatio returns. */
export function inTimes(ratio: string): string {
  const [value = "", spread] = ratio.split(" ");
  return `${value} times${spread === undefined ? "" : ` (${spread})`}`;
}

/** "2.4" of "2.4 times"; with the spreads of what is divided, as far as they were measured, "2.4 ±7%". */
export function formatRatio(ratio: number, ...spreads: readonly number[]): string {
  if (!Number.isFinite(ratio)) return "–";
  // Independent of each other.
  const spread = Math.hypot(...spreads);
  const besides = spreads.length > 0 && Number.isFinite(spread) ? ` ${formatSpread(spread)}` : "";
  return `${ratio.toFixed(ratio >= 10 ? 1 : 2)}${besides}`;
}

/** Returns a note on how fast a time grows with sequences or tokens; none for a single row. */
export function growthNote(what: string, points: readonly (readonly [x: number, ms: number])[]): string[] {
  const exponent = growthExponent(points).toFixed(2);
  const note = `The time grows as the ${what} to the ${exponent}, by the best fit over all rows: 1 is linear, 0 not at all.`;
  return points.length > 1 ? [note] : [];
}
