import { useEffect, useState, type ReactNode } from "react";
import { GLYPHS } from "../batch/TimelineLegend.tsx";
import { useMedia } from "../use-media.ts";
import type { PictureRow } from "./explanations.ts";

const STEP_PX = 18;
const ROW_PX = 24;
const NAMES_PX = 64;

const block = <rect x="-1" y="1" width="12" height="14" rx="2" fill="currentColor" />;

/** The drawings of a run's cells, 9 by 16. */
export const CELLS: Readonly<Record<string, ReactNode>> = {
  ".": null,
  P: GLYPHS.Prompt,
  c: GLYPHS.Cached,
  d: GLYPHS.Decode,
  w: GLYPHS.Waiting,
  x: GLYPHS.Preempted,
  "|": GLYPHS.Finished,
  G: <rect x="-4" y="2" width="17" height="12" rx="1.5" fill="currentColor" />,
  r: <path d="M-3 8h15" stroke="currentColor" strokeWidth="1.5" strokeDasharray="2 2" />,
  1: block,
  2: block,
};

export function numStepsOf(rows: readonly PictureRow[]): number {
  return Math.max(...rows.map(({ cells }) => cells.length));
}

/** Counts from one step to all of them; shows all at once if reduced motion is preferred. */
export function useSteps(numSteps: number, stepMs: number) {
  const isStill = useMedia("(prefers-reduced-motion: reduce)");
  const [shown, setShown] = useState(1);
  const isOver = isStill || shown >= numSteps;
  useEffect(() => {
    if (isOver) return;
    const timer = setTimeout(() => setShown(shown + 1), stepMs);
    return () => clearTimeout(timer);
  }, [shown, isOver, stepMs]);
  return { upTo: isStill ? numSteps : shown, isOver, isStill, again: () => setShown(1) };
}

/** A short run, drawn as the timeline draws it, up to this number of steps. */
export function Run({ rows, upTo, label }: { rows: readonly PictureRow[]; upTo: number; label: string }) {
  return (
    <svg viewBox={`0 0 ${NAMES_PX + numStepsOf(rows) * STEP_PX} ${rows.length * ROW_PX}`} role="img" aria-label={label}>
      {rows.map(({ name, pane, cells }, row) => (
        <g key={name} transform={`translate(0 ${row * ROW_PX})`}>
          <text x="0" y="16">
            {name}
          </text>
          {Array.from(cells.slice(0, upTo), (character, step) => (
            <g
              // A cell's only name is its step, and none moves.
              // oxlint-disable-next-line react/no-array-index-key
              key={step}
              color={colorOf(pane, character)}
              transform={`translate(${NAMES_PX + step * STEP_PX + 4} 4)`}
            >
              {CELLS[character]}
            </g>
          ))}
        </g>
      ))}
    </svg>
  );
}

/** A digit is a block of the sequence with that number. */
function colorOf(pane: number | null, character: string): string {
  const owner = pane ?? Number(character);
  return owner > 0 ? `var(--v${owner})` : "var(--color-ink-2)";
}
