import { memo } from "react";
import type { Turn, TurnEnd } from "../../state/conversation.ts";
import type { PaneState } from "../../state/pane.ts";
import { classNames } from "../class-names.ts";
import css from "./TurnView.module.css";

const ENDINGS: Record<TurnEnd, string> = {
  stop: "Finished: end of text",
  length: "Finished: length limit",
  stopped: "Finished: stopped",
  interrupted: "Broken off before its end",
};

interface TurnViewProps {
  turn: Turn;
  isNewest: boolean;
  /** Of the pane, where the turn is its newest. */
  phase: PaneState["phase"];
}

/** A question and its answer. Only the newest one ever changes. */
export const TurnView = memo(function TurnView({ turn, isNewest, phase }: TurnViewProps) {
  const isBusy = phase !== "idle";
  const paragraphs = turn.answer.trimStart().split(/\n{2,}/);
  return (
    <article className={classNames(css.turn, isNewest && css.newest)}>
      <p className={css.question}>
        <span className="sr">You: </span>
        {turn.question}
      </p>
      <div className={css.answer}>
        {paragraphs.map((paragraph, index) => (
          // Text only grows at its end: a paragraph keeps its place.
          // oxlint-disable-next-line react/no-array-index-key
          <p key={index}>
            {paragraph}
            {isBusy && index === paragraphs.length - 1 && (
              <span className={classNames(css.caret, phase !== "streaming" && css.hollow)} aria-hidden="true" />
            )}
          </p>
        ))}
      </div>
      <p className={css.end}>{turn.end && ENDINGS[turn.end]}</p>
    </article>
  );
});
