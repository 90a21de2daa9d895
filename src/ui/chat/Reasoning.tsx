import { Markdown } from "./markdown/Markdown.tsx";
import css from "./Reasoning.module.css";

/** What the model thought before its answer, folded. */
export function Reasoning({ text, isOver }: { text: string; isOver: boolean }) {
  return (
    <details className={css.reasoning}>
      <summary>{isOver ? "Thoughts" : "Thinking\u2026"}</summary>
      <Markdown text={text} caret={null} />
    </details>
  );
}
