import { compareAnswers, wordsOf, type Agreement } from "../../state/duel/compare-answers.ts";
import type { DuelRun } from "../../state/duel/duel.ts";
import { classNames } from "../class-names.ts";
import { AnswerCard, Caret } from "../components/AnswerCard.tsx";
import { formatCount, formatDuration, formatPercent, formatRate } from "../format.ts";
import { useStore } from "../use-store.ts";
import css from "./DuelSideView.module.css";

interface DuelSideViewProps {
  readonly run: DuelRun;
  /** The side that this one is compared with; null if the others are compared with this one. */
  readonly other: DuelRun | null;
  /** The first side shows no agreement: each other side shows its own with the first. */
  readonly isFirst: boolean;
}

const STATUS_WORDS: Record<DuelRun["status"], string> = {
  waiting: "Waits for its turn",
  loading: "Getting ready: a few tokens first, so that no side pays for the start",
  running: "",
  done: "",
  failed: "Was cut off",
};

/** One side: its answer with the first word that differs from another side's, how far both agree, and its speed. */
export function DuelSideView({ run, other, isFirst }: DuelSideViewProps) {
  const { pane, label, status } = run;
  const answer = useStore(pane.store, (state) => state.turns.at(-1)?.answer ?? "");
  const figures = useStore(pane.store, (state) => state.figures);
  const ttftMs = figures?.ttftMs ?? null;
  const otherAnswer = useStore((other ?? run).pane.store, (state) => state.turns.at(-1)?.answer ?? "");
  const isOver = status === "done" && other?.status === "done";
  const agreement = other === null ? null : compareAnswers(otherAnswer, answer, isOver);
  const words = wordsOf(answer);
  const at = agreement?.firstDifference ?? null;
  const [, space, differing] = /^(\s*)(.*)$/.exec(words[at ?? 0] ?? " (it ends here)") ?? [];
  const isBusy = status === "running";
  return (
    <AnswerCard
      voice={pane.number}
      name={label}
      answerName={`Answer: ${label}`}
      heading={<h3>{label}</h3>}
      isBusy={isBusy}
      isForReading
      answer={
        <>
          {at === null ? (
            answer.trimStart()
          ) : (
            <>
              {words.slice(0, at).join("")}
              {space}
              <mark className={css.different}>{differing}</mark>
              {words.slice(at + 1).join("")}
            </>
          )}
          {isBusy && <Caret />}
        </>
      }
    >
      <p className={classNames(css.agreement, at !== null && css.differs)}>
        {agreement && !isFirst && wordsFor(agreement, isOver)}
      </p>
      <dl className={css.figures}>
        <div>
          <dt>Tokens</dt>
          <dd>{figures ? formatCount(figures.outputTokens) : "–"}</dd>
        </div>
        <div>
          <dt>Tokens per second</dt>
          <dd>{figures?.tokensPerSecond ? formatRate(figures.tokensPerSecond) : "–"}</dd>
        </div>
        <div>
          <dt>First token after</dt>
          <dd>{ttftMs === null ? "–" : formatDuration(ttftMs)}</dd>
        </div>
        <div>
          <dt>{run.companions.length > 0 ? `All ${1 + run.companions.length} answers` : "In all"}</dt>
          <dd>{run.elapsedMs > 0 ? formatDuration(run.elapsedMs) : "–"}</dd>
        </div>
      </dl>
      <p className={css.status}>
        {STATUS_WORDS[status]}
        {run.companions.length > 0 &&
          run.tokens > 0 &&
          `${formatRate((1000 * run.tokens) / run.elapsedMs)} tokens per second, all answers together`}
      </p>
    </AnswerCard>
  );
}

function wordsFor({ firstDifference, share }: Agreement, isOver: boolean): string {
  if (firstDifference === null) return isOver ? "100% agreement: the same answer, word for word" : "The same so far";
  return `${formatPercent(share)} agreement; the first difference is word ${formatCount(firstDifference + 1)}`;
}
