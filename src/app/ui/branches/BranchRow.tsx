import type { BranchLine } from "../../state/chat/branch-lines.ts";
import { classNames } from "../class-names.ts";
import css from "./BranchRow.module.css";

export const BRANCH_ROW_PX = 52;
const COLUMN_PX = 18;
/** Most columns. Further branches are drawn in the last one. */
const MAX_COLUMNS = 12;
const DOT_PX = 4.5;
/** The middle of the first line of text, where the tree's line meets it. */
const DOT_Y = 16;
const SHOWN_LENGTH = 200;

interface BranchRowProps {
  line: BranchLine;
  isIdle: boolean;
  onChoose: (turnId: number) => void;
}

/** A turn in the tree, with the lines that lead to it. */
export function BranchRow({ line, isIdle, onChoose }: BranchRowProps) {
  const { turn, isChosen, column } = line;
  return (
    <button
      type="button"
      className={classNames(css.row, isChosen && css.chosen)}
      aria-current={isChosen}
      aria-disabled={!isIdle}
      onClick={() => isIdle && onChoose(turn.id)}
    >
      <Rails line={line} />
      <span className={css.texts}>
        {column > 0 && <span className="sr">Branch level {column}: </span>}
        <span className={css.question} dir="auto">
          {turn.question.slice(0, SHOWN_LENGTH)}
        </span>
        <span className={css.answer} dir="auto">
          {turn.answer.trim().slice(0, SHOWN_LENGTH) || "No answer"}
        </span>
      </span>
    </button>
  );
}

function Rails({ line: { column, goesOn, place, hasNext } }: { line: BranchLine }) {
  const own = Math.min(column, MAX_COLUMNS);
  const xOf = (each: number) => (each + 0.5) * COLUMN_PX;
  const paths = goesOn.slice(0, own).map((isPassing, index) => {
    const x = xOf(index);
    return isPassing ? `M${x} 0V${BRANCH_ROW_PX}` : "";
  });
  const x = xOf(own);
  if (place === "variant") paths.push(`M${xOf(own - 1)} 0V${DOT_Y - 8}q0 8 8 8H${x - DOT_PX}`);
  if (place === "next") paths.push(`M${x} 0V${DOT_Y - DOT_PX}`);
  if (hasNext) paths.push(`M${x} ${DOT_Y + DOT_PX}V${BRANCH_ROW_PX}`);
  return (
    <svg className={css.rails} width={xOf(own) + COLUMN_PX / 2} height={BRANCH_ROW_PX} aria-hidden="true">
      <path d={paths.join("")} />
      <circle cx={x} cy={DOT_Y} r={DOT_PX} />
    </svg>
  );
}
