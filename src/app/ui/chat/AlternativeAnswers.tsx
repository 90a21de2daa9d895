import { useId, type ReactNode } from "react";
import type { Alternatives } from "../../state/chat/conversation.ts";
import { classNames } from "../class-names.ts";
import { AnswerText } from "./AnswerText.tsx";
import { Reasoning } from "./Reasoning.tsx";

interface AlternativeAnswersProps {
  alternatives: Alternatives;
  caret: ReactNode;
  isIdle: boolean;
  onChoose: (index: number) => void;
}

/** The answers to one question, side by side. The chat goes on with the chosen one. */
export function AlternativeAnswers({ alternatives, caret, isIdle, onChoose }: AlternativeAnswersProps) {
  const { answers, chosen } = alternatives;
  const name = useId();
  return (
    <div
      className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,180px),1fr))] gap-x-4 gap-y-3"
      role="radiogroup"
      aria-label="Answer to go on with"
    >
      {answers.map(({ answer, reasoning, end }, index) => (
        // An answer has no other name than its place, and none moves.
        // oxlint-disable-next-line react/no-array-index-key
        <section
          key={index}
          className={index === chosen ? "border-t-2 border-ink pt-0.75" : "border-t border-line-strong pt-1"}
        >
          <label className={classNames("row small min-h-(--icon-h)", index === chosen && "text-ink")}>
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
