import type { ReactNode } from "react";
import { ErrorBoundary } from "../components/ErrorBoundary.tsx";
import css from "./AnswerText.module.css";
import { LeftOut, shownPart } from "./LeftOut.tsx";
import { Markdown } from "./markdown/Markdown.tsx";

interface AnswerTextProps {
  text: string;
  /** Shown where the text grows. */
  caret: ReactNode;
}

/** An answer as Markdown. One that can't be rendered is shown as it is. */
export function AnswerText({ text, caret }: AnswerTextProps) {
  const shown = shownPart(text);
  const asItIs = (
    <p className={css.plain}>
      {shown}
      {caret}
    </p>
  );
  return (
    <ErrorBoundary subject={text} fallback={asItIs}>
      <Markdown text={shown} caret={caret} />
      <LeftOut text={text} />
    </ErrorBoundary>
  );
}
