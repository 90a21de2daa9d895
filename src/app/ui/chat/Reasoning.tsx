import { AnswerText } from "./AnswerText.tsx";
import css from "./Reasoning.module.css";

/** The model's thought before its answer, folded. */
export function Reasoning({ turnId, text, isOver }: { turnId?: number; text: string; isOver: boolean }) {
  return (
    <details className={css.reasoning}>
      <summary>{isOver ? "Thoughts" : "Thinking\u2026"}</summary>
      <div data-thoughts={turnId}>
        <AnswerText text={text} caret={null} />
      </div>
    </details>
  );
}
