import { memo } from "react";
import { textAt, type RecordedSequence } from "../../state/player/recorded-run.ts";
import type { AgainResult } from "../../state/player/replay-check.ts";
import { sequenceName } from "../batch/cell-facts.ts";
import { AnswerCard } from "../components/AnswerCard.tsx";
import { formatCount, plural } from "../format.ts";

interface PlayedAnswerProps {
  readonly cardId: string;
  readonly sequence: RecordedSequence;
  /** Null if no pane asked it. */
  readonly pane: number | null;
  readonly place: number;
  /** The result of computing it again; null if it was not. */
  readonly again: AgainResult | null;
}

const ENDS = { stop: "ended", length: "reached the length limit", abort: "stopped" } as const;

/** A question of a recording, and its answer so far. */
export const PlayedAnswer = memo(function PlayedAnswer({ cardId, sequence, pane, place, again }: PlayedAnswerProps) {
  const { requested, end } = sequence;
  const difference = again?.difference ?? null;
  const { before, marked, after, numTokens } = textAt(sequence, place, difference?.token);
  return (
    <AnswerCard
      id={cardId}
      className="max-sm:max-h-55"
      voice={pane}
      name={sequenceName(sequence)}
      answerName="Answer"
      question={requested?.question ?? sequenceName(sequence)}
      level="h2"
      answer={
        <>
          {before.trimStart()}
          {marked !== "" && (
            <mark
              className={
                difference
                  ? "rounded-xs bg-bad-tint font-semibold text-bad underline"
                  : "rounded-xs bg-[color-mix(in_oklab,_var(--v,_var(--ink-3))_22%,_transparent)] text-inherit"
              }
            >
              {before === "" ? marked.trimStart() : marked}
            </mark>
          )}
          {after}
        </>
      }
    >
      <p className="small min-h-4 flex-none max-sm:t-11 max-sm:font-normal">
        <b>{formatCount(numTokens)}</b> {plural(numTokens, "token")}
        {end !== null && end.place <= place && `, ${ENDS[end.reason ?? "abort"]}`}
        {again !== null && <AgainFigures again={again} />}
      </p>
    </AnswerCard>
  );
});

function AgainFigures({ again: { status, numSame, difference } }: { again: AgainResult }) {
  if (difference !== null) {
    const { token, recorded, now } = difference;
    const name = (id: number | null) => (id === null ? "the end" : `token id ${id}`);
    return (
      <span className="block text-bad">
        ≠ from token {formatCount(token + 1)} on: {name(recorded)}, now {name(now)}
      </span>
    );
  }
  return (
    <span className="block text-good">
      {status === "done" ? "✓ the same again" : `${formatCount(numSame)} the same`}
    </span>
  );
}
