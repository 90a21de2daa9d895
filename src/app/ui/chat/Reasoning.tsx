import { useState } from "react";
import { AnswerText } from "./AnswerText.tsx";

/** The model's thought before its answer: seen while it grows, folded when it is over, or as somebody has left it. */
export function Reasoning({ turnId, text, isOver }: { turnId?: number; text: string; isOver: boolean }) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? !isOver;
  return (
    <details
      className="mb-2 max-w-(--measure) text-ink-3 open:border-l-2 open:border-(--v) open:pl-2"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== isOpen) setChosen(currentTarget.open);
      }}
    >
      <summary>{isOver ? "Thoughts" : "Thinking\u2026"}</summary>
      <div data-thoughts={turnId}>
        <AnswerText text={text} caret={null} />
      </div>
    </details>
  );
}
