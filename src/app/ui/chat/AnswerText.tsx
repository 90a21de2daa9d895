import { importWithRetry } from "../../import-with-retry.ts";
import type { ReactNode } from "react";
import { useStore } from "zustand";
import { ErrorBoundary } from "../components/ErrorBoundary.tsx";
import { lazyLibrary } from "../lazy-library.ts";
import { classNames } from "../class-names.ts";
import { formatCount } from "../format.ts";

/** What renders Markdown: a page without answers does not need it. Without it, answers are shown as plain text. */
export const markdown = lazyLibrary(() => importWithRetry(() => import("./markdown/Markdown.tsx")));

/** The beginning of an answer in JSON, unlike any Markdown. */
const JSON_BEGINS = /^\s*(?:\{\s*(?:"|\}|$)|\[\s*(?:["{[]|$))/;

/** An answer as Markdown, or as code if it is JSON. One that can't be rendered is shown unchanged. */
export function AnswerText({ text, caret }: { text: string; caret: ReactNode }) {
  const { library } = useStore(markdown.store);
  const shown = shownPart(text);
  const isJson = JSON_BEGINS.test(shown);
  const asItIs = (
    <p
      className={classNames("wrap-anywhere whitespace-pre-wrap", isJson && "[font:400_13px/20px_var(--mono)]")}
      dir={isJson ? "ltr" : "auto"}
    >
      {isJson ? shown.trimStart() : shown}
      {caret}
    </p>
  );
  return (
    <ErrorBoundary subject={text} renderFallback={() => asItIs}>
      {library && !isJson ? <library.Markdown text={shown} caret={caret} /> : asItIs}
      <LeftOut text={text} />
    </ErrorBoundary>
  );
}

/** Most characters shown of one question or answer. Layout takes seconds for millions. */
const MAX_SHOWN = 200_000;

export function shownPart(text: string): string {
  return text.length > MAX_SHOWN ? text.slice(0, MAX_SHOWN) : text;
}

export function LeftOut({ text }: { text: string }) {
  if (text.length <= MAX_SHOWN) return null;
  return <p role="note">{formatCount(text.length - MAX_SHOWN)} more characters are kept, but not shown.</p>;
}
