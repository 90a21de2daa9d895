import { useEffect, useState, type ReactNode } from "react";
import { GLYPHS } from "../batch/TimelineLegend.tsx";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { useMedia } from "../use-media.ts";
import type { Explanation } from "./explanations.ts";
import css from "./Picture.module.css";

/** The whole takes less than five seconds, and rests then: nothing moves for long unasked. */
const STEP_MS = 350;
const STEP_PX = 18;
const ROW_PX = 24;
const NAMES_PX = 64;

const block = <rect x="-1" y="1" width="12" height="14" rx="2" fill="currentColor" />;

/** The drawings of a picture's cells, 9 by 16. */
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

/** The run of an explanation, step by step. Where motion is not wanted, all of it at once. */
export function Picture({ explanation }: { explanation: Explanation }) {
  const { picture, pictureWords } = explanation;
  const isStill = useMedia("(prefers-reduced-motion: reduce)");
  const numSteps = Math.max(...picture.map(({ cells }) => cells.length));
  const [shown, setShown] = useState(1);
  const isOver = isStill || shown >= numSteps;
  useEffect(() => {
    if (isOver) return;
    const timer = setTimeout(() => setShown(shown + 1), STEP_MS);
    return () => clearTimeout(timer);
  }, [shown, isOver]);
  return (
    <div className={css.picture}>
      <PictureDrawing explanation={explanation} numShown={isStill ? numSteps : shown} />
      <div className={css.foot}>
        <p>{pictureWords}</p>
        {!isStill && (
          <Button look="icon" aria-label="Play again" title="Play again" disabled={!isOver} onClick={() => setShown(1)}>
            <Icon name="again" />
          </Button>
        )}
      </div>
    </div>
  );
}

/** The first steps of a run. */
export function PictureDrawing({
  explanation: { picture, pictureWords },
  numShown,
}: {
  explanation: Explanation;
  numShown: number;
}) {
  const width = NAMES_PX + Math.max(...picture.map(({ cells }) => cells.length)) * STEP_PX;
  return (
    <svg viewBox={`0 0 ${width} ${picture.length * ROW_PX}`} role="img" aria-label={pictureWords}>
      {picture.map(({ name, voice, cells }, row) => (
        <g key={name} transform={`translate(0 ${row * ROW_PX})`}>
          <text x="0" y="16">
            {name}
          </text>
          {Array.from(cells.slice(0, numShown), (character, step) => (
            <g
              // A cell has no other name than its step, and none moves.
              // oxlint-disable-next-line react/no-array-index-key
              key={step}
              color={colorOf(voice, character)}
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
function colorOf(voice: number | null, character: string): string {
  const owner = voice ?? Number(character);
  return owner > 0 ? `var(--v${owner})` : "var(--ink-2)";
}
