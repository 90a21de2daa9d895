import { memo, useRef, useState } from "react";
import { useStore } from "zustand";
import { useApp } from "../app/page-context.ts";
import { toErrorData } from "../../../index.ts";
import type { Asking } from "../../state/chat/asking.ts";
import { canScore } from "../../state/chat/branching.ts";
import { isUnfinished, type Turn, type TurnEnd } from "../../state/chat/conversation.ts";
import { noRoomNote, failedNote } from "../../state/chat/note.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { Button, IconButton } from "../components/Button.tsx";
import { Caret } from "../components/Caret.tsx";
import { classNames } from "../class-names.ts";
import { lazyComponent } from "../components/LazyComponent.tsx";
import { AnswerText, LeftOut, shownPart } from "./AnswerText.tsx";
import { CopyButton } from "./CopyButton.tsx";
import { leaving } from "./leaving.ts";
import { Reasoning } from "./Reasoning.tsx";
import { QuestionEditor } from "./QuestionEditor.tsx";
import { VariantPager } from "./VariantPager.tsx";
import type { Branch } from "../../state/chat/answer-memory.ts";
import { formatCount } from "../format.ts";
import { visibleToken } from "../token-text.ts";

/** The ends of answers in words. An answer that the model ended itself shows none: only screen readers speak it. */
const ENDINGS: Record<TurnEnd, string> = {
  stop: "Finished",
  length: "Reached the length limit",
  stopped: "Stopped",
  interrupted: "Interrupted",
  calls: "",
};

/** Hidden until the pointer or focus is near; always visible on touch screens. */
const NEAR =
  "[transition:opacity_var(--fast)] group-focus-within/turn:opacity-100 group-hover/turn:opacity-100 [@media(hover:hover)]:opacity-0";

const AlternativeAnswers = lazyComponent(async () => (await import("./AlternativeAnswers.tsx")).AlternativeAnswers);
const AnswerDifference = lazyComponent(async () => (await import("../words/AnswerDifference.tsx")).AnswerDifference);
const AnswerFigures = lazyComponent(async () => (await import("./AnswerFigures.tsx")).AnswerFigures);
const ToolRounds = lazyComponent(async () => (await import("./ToolRounds.tsx")).ToolRounds);
const AnswerWords = lazyComponent(async () => (await import("../words/AnswerWords.tsx")).AnswerWords);

async function score(pane: Pane, turnId: number): Promise<void> {
  try {
    const { scoreAnswer } = await import("../../state/chat/likelihoods.ts");
    await scoreAnswer(pane, turnId);
  } catch (error) {
    pane.notify(failedNote(toErrorData(error)));
  }
}

interface TurnViewProps {
  pane: Pane;
  turn: Turn;
  /** Ids of its variants. */
  variants: readonly number[] | undefined;
  isNewest: boolean;
  /** Whether it is not sent with the next question. */
  isLeftOut: boolean;
  asking: Asking;
  onChoose: (turnId: number) => void;
}

/** A question and its answer. Only the newest turn changes. */
export const TurnView = memo(function TurnView({
  pane,
  turn,
  variants,
  isNewest,
  isLeftOut,
  asking,
  onChoose,
}: TurnViewProps) {
  const { workspace, differences } = useApp();
  // Only the newest turn shows how far the answer is.
  const phase = useStore(pane.store, (state) => (isNewest || state.phase === "idle" ? state.phase : "held"));
  const isIdle = phase === "idle";
  const fork = () => {
    const forked = workspace.forkPane(pane, turn.id);
    if (!forked) pane.notify(noRoomNote());
  };
  /** Another variant may replace it meanwhile. */
  const [editedId, setEditedId] = useState<number | null>(null);
  const [hasFigures, setHasFigures] = useState(false);
  /** Null for the settings' value. */
  const [hasWords, setHasWords] = useState<boolean | null>(null);
  const answer = useRef<HTMLDivElement>(null);
  // The tokens are complete when the answer has ended, which renders the turn again.
  const [isScoring, setScoring] = useState(false);
  const hasTokens = turn.end !== null && !turn.alternatives && pane.memory.tokens.of(turn.id) !== null;
  const canShowWords = hasTokens || (turn.end !== null && !turn.alternatives && canScore(asking, turn));
  const areWordsShown = hasTokens && (hasWords ?? asking.settings.show_probabilities ?? false);
  const toggleWords = () => {
    setHasWords(!areWordsShown);
    if (hasTokens) return;
    setScoring(true);
    void score(pane, turn.id).finally(() => setScoring(false));
  };
  const difference = useStore(differences.store, (found) => found.get(pane));
  const metrics = turn.end === null ? undefined : pane.memory.metrics.get(turn.id);
  const hasAlternatives = isNewest && turn.alternatives !== undefined;
  const caret = isIdle || !isNewest ? null : <Caret isHollow={phase !== "streaming"} />;
  return (
    <article
      className={classNames(
        "group/turn flex-none",
        isNewest ? "min-h-[calc(100%-var(--above))]" : "pb-3",
        hasAlternatives ? "mx-[clamp(-240px,calc(316px-50cqw),0px)]" : "max-w-(--measure)",
        isLeftOut && "text-ink-3",
      )}
    >
      {editedId === turn.id ? (
        <QuestionEditor pane={pane} turn={turn} isNewest={isNewest} onDone={() => setEditedId(null)} />
      ) : (
        <div className="mb-2 flex max-w-(--measure) items-start gap-1">
          <p className="title min-h-0 min-w-0 flex-1 text-pretty whitespace-pre-wrap" dir="auto">
            {/* With a direction of its own it doesn't count for the question's. */}
            <span className="sr-only" dir="ltr">
              You:{" "}
            </span>
            {shownPart(turn.question)}
          </p>
          <LeftOut text={turn.question} />
          {variants && (
            <VariantPager turnIds={[...variants, turn.id]} chosenId={turn.id} isIdle={isIdle} onChoose={onChoose} />
          )}
          <IconButton
            icon="edit"
            className={classNames(NEAR, "-my-1 -mr-2 max-sm:-my-2 max-sm:-mr-2.5")}
            disabled={!isIdle}
            name="Edit question"
            title="Edit and ask again"
            onClick={() => setEditedId(turn.id)}
          />
        </div>
      )}
      {hasAlternatives && turn.alternatives ? (
        <AlternativeAnswers
          alternatives={turn.alternatives}
          caret={caret}
          isIdle={isIdle}
          onChoose={(index) => pane.chooseAnswer(index)}
        />
      ) : (
        <>
          {turn.rounds && <ToolRounds pane={pane} rounds={turn.rounds} canRun={isNewest} />}
          {turn.reasoning && (
            <Reasoning turnId={turn.id} text={turn.reasoning} isOver={turn.answer !== "" || turn.end !== null} />
          )}
          <div className="relative">
            <div ref={answer} data-answer={turn.id} data-card={areWordsShown ? "" : undefined}>
              <AnswerText text={turn.answer} caret={caret} />
            </div>
            {areWordsShown && (
              <AnswerWords key={turn.id} pane={pane} turnId={turn.id} answer={answer} canBranch={asking.canContinue} />
            )}
          </div>
        </>
      )}
      <footer
        className={classNames(
          "small mt-0.5 -mr-2 flex min-h-(--icon-h) flex-wrap items-center gap-x-1",
          // Below a growing answer it is empty, and moves with every line: invisible elements cause no layout shift.
          turn.end === null && turn.by === undefined && "invisible",
        )}
      >
        {turn.by && <span>{turn.by}</span>}
        {isScoring && <output>Computing probabilities…</output>}
        <BranchCost pane={pane} turnId={turn.id} />
        {difference?.turnId === turn.id && <AnswerDifference difference={difference} turn={turn} answer={answer} />}
        {turn.end === "stop" && turn.answer.trim() === "" && !turn.alternatives && (
          <p>The model answered with nothing</p>
        )}
        <p>{turn.end && <span className={turn.end === "stop" ? "sr-only" : undefined}>{ENDINGS[turn.end]}</span>}</p>
        {turn.end !== null && (
          <>
            {isNewest && (asking.canContinue || turn.answer === "") && isUnfinished(turn) && (
              <Button
                icon="onward"
                look="quiet"
                className="h-(--icon-h) px-2 text-[12px]"
                disabled={!isIdle}
                onClick={leaving(() => pane.continueAnswer())}
              >
                Continue
              </Button>
            )}
            <div className={classNames("ml-auto flex", !isNewest && NEAR)}>
              {metrics && (
                <IconButton
                  icon="figures"
                  name="Figures"
                  aria-expanded={hasFigures}
                  title="How long this answer took, and why"
                  onClick={() => setHasFigures(!hasFigures)}
                />
              )}
              {(canShowWords || hasAlternatives) && (
                <IconButton
                  icon="percent"
                  name="Probabilities"
                  aria-pressed={hasAlternatives ? undefined : areWordsShown}
                  title={
                    hasAlternatives
                      ? "Of several answers the probabilities are not kept"
                      : "How likely each word was. Replace a word, and continue from there"
                  }
                  aria-busy={isScoring}
                  disabled={isScoring || hasAlternatives}
                  onClick={toggleWords}
                />
              )}
              <CopyButton text={turn.answer.trim()} name="Copy answer" />
              {isNewest && (
                <IconButton
                  icon="again"
                  disabled={!isIdle}
                  name="Regenerate"
                  onClick={leaving(() => pane.regenerate())}
                />
              )}
              <IconButton icon="fork" name="Fork from here" title="Continue from here in a new pane" onClick={fork} />
            </div>
          </>
        )}
      </footer>
      {metrics && hasFigures && <AnswerFigures metrics={metrics} />}
    </article>
  );
});

/** The word with which an answer differs from the one it begins with, and the cost. */
function BranchCost({ pane, turnId }: { pane: Pane; turnId: number }) {
  const branch = useStore(pane.store, () => pane.memory.branches.get(turnId));
  if (branch === undefined) return null;
  const { word, cost } = branch;
  return (
    <span>
      Continued with “{visibleToken({ text: word })}”{cost && ` (${costWords(cost)})`}
    </span>
  );
}

function costWords({ promptTokens, cachedTokens }: NonNullable<Branch["cost"]>): string {
  const computed = `${formatCount(promptTokens - cachedTokens)} of ${formatCount(promptTokens)} prompt tokens computed`;
  return cachedTokens === 0 ? computed : `${computed}, the rest shared`;
}
