import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { paneColorStyle } from "../pane-color.ts";
import { SCROLLED_GROUP } from "./scrolls.ts";
import { PaneBadge } from "./PaneBadge.tsx";

interface AnswerCardProps {
  /** The pane's number; null if no pane asked. */
  readonly pane: number | null;
  readonly name: string;
  readonly answerName: string;
  readonly question: string | undefined;
  /** The question's element. */
  readonly level: "h2" | "h3";
  readonly answer: ReactNode;
  readonly isBusy?: boolean;
  /** Id for links to it. */
  readonly id?: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A read-only answer, with its heading and its figures. */
export function AnswerCard(props: AnswerCardProps) {
  const { pane, name, answerName, question, level: Heading, answer, isBusy = false, id, className } = props;
  return (
    <section
      id={id}
      className={classNames(
        "box flex min-h-0 flex-col border-t-3 border-t-[var(--v,var(--color-line-strong))] px-3 py-2 max-sm:rounded-md max-sm:px-2 max-sm:py-1",
        className,
      )}
      style={pane === null ? undefined : paneColorStyle(pane)}
      aria-label={name}
      tabIndex={id === undefined ? undefined : -1}
    >
      <header className="row max-sm:items-start max-sm:gap-1.5">
        {pane !== null && <PaneBadge number={pane} />}
        <Heading
          className="truncate t-13 font-semibold max-sm:line-clamp-2 max-sm:whitespace-normal max-sm:[font:600_12px/17px_var(--sans)]"
          title={question}
        >
          {question}
        </Heading>
      </header>
      <div
        // Reversed, so that the browser keeps the newest line in view. Short answers still start at the top.
        className="my-1 flex min-h-0 flex-1 [scrollbar-width:none] flex-col-reverse overflow-y-auto"
        aria-label={answerName}
        {...SCROLLED_GROUP}
      >
        <p
          className="mb-auto max-w-(--measure) wrap-anywhere whitespace-pre-line [font:400_15px/21px_var(--serif)] max-sm:[font:400_14px/17px_var(--serif)]"
          aria-busy={isBusy}
          dir="auto"
        >
          {answer}
        </p>
      </div>
      {props.children}
    </section>
  );
}
