import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { voiceStyle } from "../voice.ts";
import css from "./AnswerCard.module.css";
import { VoiceBadge } from "./VoiceBadge.tsx";

interface AnswerCardProps {
  /** The pane's number; null if no pane asked. */
  readonly voice: number | null;
  readonly name: string;
  readonly answerName: string;
  readonly heading: ReactNode;
  readonly answer: ReactNode;
  readonly isBusy?: boolean;
  /** Id for links to it. */
  readonly id?: string;
  readonly className?: string | undefined;
  /** The figures below the answer. */
  readonly children: ReactNode;
}

/** A read-only answer, with its heading and its figures. */
export function AnswerCard(props: AnswerCardProps) {
  const { voice, name, answerName, heading, answer, isBusy = false, id, className } = props;
  return (
    <section
      id={id}
      className={classNames(css.card, className)}
      style={voice === null ? undefined : voiceStyle(voice)}
      aria-label={name}
      tabIndex={id === undefined ? undefined : -1}
    >
      <header className={css.head}>
        {voice !== null && <VoiceBadge number={voice} />}
        {heading}
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role -- the arrow keys scroll it */}
      <div className={css.answer} role="group" aria-label={answerName} tabIndex={0}>
        <p aria-busy={isBusy} dir="auto">
          {answer}
        </p>
      </div>
      {props.children}
    </section>
  );
}
