import type { Pane } from "../../state/chat/pane.ts";
import { AnswerCard } from "../components/AnswerCard.tsx";
import { Caret } from "../components/Caret.tsx";
import { formatCount, formatDuration } from "../format.ts";
import { useStore } from "../use-store.ts";

/** A read-only pane: a question of the demo, its answer and its figures. */
export function DemoPane({ pane }: { pane: Pane }) {
  const turn = useStore(pane.store, (state) => state.turns.at(-1));
  const phase = useStore(pane.store, (state) => state.phase);
  const figures = useStore(pane.store, (state) => state.figures);
  const isBusy = phase !== "idle";
  return (
    <AnswerCard
      voice={pane.number}
      name={`Pane ${pane.number}`}
      answerName={`Answer ${pane.number}`}
      question={turn?.question}
      level="h3"
      isBusy={isBusy}
      answer={
        <>
          {turn?.answer.trimStart()}
          {turn?.end === "length" && <span className="small whitespace-nowrap"> … cut here</span>}
          {isBusy && <Caret isHollow={phase !== "streaming"} />}
        </>
      }
    >
      <p className="small h-4 min-h-4 flex-none overflow-hidden whitespace-nowrap max-sm:t-11 max-sm:font-normal">
        {figures === null || figures.ttftMs === null ? (
          isBusy && "Waiting for its turn"
        ) : (
          <>
            <b>{formatCount(figures.outputTokens)}</b> tokens, <span className="max-sm:sr-only">the </span>first after{" "}
            <b>{formatDuration(figures.ttftMs)}</b>
          </>
        )}
      </p>
    </AnswerCard>
  );
}
