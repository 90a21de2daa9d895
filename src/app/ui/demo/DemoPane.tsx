import type { Pane } from "../../state/chat/pane.ts";
import { classNames } from "../class-names.ts";
import { AnswerCard } from "../components/AnswerCard.tsx";
import { Caret } from "../components/Caret.tsx";
import card from "../components/AnswerCard.module.css";
import { formatCount, formatDuration } from "../format.ts";
import { useStore } from "../use-store.ts";
import css from "./DemoPane.module.css";

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
      heading={<h3>{turn?.question}</h3>}
      isBusy={isBusy}
      answer={
        <>
          {turn?.answer.trimStart()}
          {turn?.end === "length" && <span className={css.cut}> … cut here</span>}
          {isBusy && <Caret isHollow={phase !== "streaming"} />}
        </>
      }
    >
      <p className={classNames(card.figures, css.figures)}>
        {figures === null || figures.ttftMs === null ? (
          isBusy && "Waiting for its turn"
        ) : (
          <>
            <b>{formatCount(figures.outputTokens)}</b> tokens, <span className={css.long}>the </span>first after{" "}
            <b>{formatDuration(figures.ttftMs)}</b>
          </>
        )}
      </p>
    </AnswerCard>
  );
}
