import { useId, type ReactNode } from "react";
import type { SeveralAnswers as Several } from "../../state/chat/conversation.ts";
import { classNames } from "../class-names.ts";
import { AnswerText } from "./AnswerText.tsx";
import { Reasoning } from "./Reasoning.tsx";
import css from "./SeveralAnswers.module.css";

interface SeveralAnswersProps {
  several: Several;
  /** Shown where an answer grows. */
  caret: ReactNode;
  /** Whether one can be chosen. */
  isIdle: boolean;
  onChoose: (index: number) => void;
}

/** The answers to one question, side by side. The chat goes on with the chosen one. */
export function SeveralAnswers({ several: { answers, chosen }, caret, isIdle, onChoose }: SeveralAnswersProps) {
  const name = useId();
  return (
    <div className={css.answers} role="radiogroup" aria-label="Answer to go on with">
      {answers.map(({ answer, reasoning, end }, index) => (
        // An answer has no other name than its place, and none moves.
        // oxlint-disable-next-line react/no-array-index-key
        <section key={index} className={classNames(css.one, index === chosen && css.chosen)}>
          <label className={css.label}>
            <input
              type="radio"
              name={name}
              checked={index === chosen}
              disabled={!isIdle}
              onChange={() => onChoose(index)}
            />
            Answer {index + 1}
          </label>
          {reasoning && <Reasoning text={reasoning} isOver={answer !== "" || end !== null} />}
          <div {...(index === chosen && { "data-answer": "" })}>
            <AnswerText text={answer} caret={caret} />
          </div>
        </section>
      ))}
    </div>
  );
}
