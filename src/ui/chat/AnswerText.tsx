import type { ReactNode } from "react";
import { ErrorBoundary } from "../components/ErrorBoundary.tsx";
import { useStore } from "../use-store.ts";
import css from "./AnswerText.module.css";
import { LeftOut, shownPart } from "./LeftOut.tsx";
import { markdownView } from "./markdown-view.ts";

interface AnswerTextProps {
  text: string;
  /** Shown where the text grows. */
  caret: ReactNode;
}

/** An answer as Markdown. One that can't be rendered is shown as it is. */
export function AnswerText({ text, caret }: AnswerTextProps) {
  const { Markdown } = useStore(markdownView, (state) => state);
  const shown = shownPart(text);
  const asItIs = (
    <p className={css.plain}>
      {shown}
      {caret}
    </p>
  );
  return (
    <ErrorBoundary subject={text} fallback={asItIs}>
      {Markdown ? <Markdown text={shown} caret={caret} /> : asItIs}
      <LeftOut text={text} />
    </ErrorBoundary>
  );
}
