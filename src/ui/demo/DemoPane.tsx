import type { Pane } from "../../state/chat/pane.ts";
import { classNames } from "../class-names.ts";
import { formatCount, formatDuration } from "../format.ts";
import { useStore } from "../use-store.ts";
import { VoiceBadge } from "../components/VoiceBadge.tsx";
import { voiceStyle } from "../voice.ts";
import css from "./DemoPane.module.css";

/** A read-only pane: a question of the demo, its answer and its figures. */
export function DemoPane({ pane }: { pane: Pane }) {
  const turn = useStore(pane.store, (state) => state.turns.at(-1));
  const phase = useStore(pane.store, (state) => state.phase);
  const figures = useStore(pane.store, (state) => state.figures);
  const isBusy = phase !== "idle";
  return (
    <section className={css.pane} style={voiceStyle(pane.number)} aria-label={`Pane ${pane.number}`}>
      <header className={css.head}>
        <VoiceBadge number={pane.number} />
        <h3>{turn?.question}</h3>
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role -- the arrow keys scroll it */}
      <div className={css.answer} role="group" aria-label={`Answer ${pane.number}`} tabIndex={0}>
        <p aria-busy={isBusy} dir="auto">
          {turn?.answer.trimStart()}
          {turn?.end === "length" && <span className={css.cut}> … cut here</span>}
          {isBusy && <span className={classNames(css.caret, phase !== "streaming" && css.hollow)} aria-hidden="true" />}
        </p>
      </div>
      <p className={css.figures}>
        {figures === null || figures.ttftMs === null ? (
          isBusy && "Waiting for its turn"
        ) : (
          <>
            <b>{formatCount(figures.outputTokens)}</b> tokens, <span className={css.long}>the </span>first after{" "}
            <b>{formatDuration(figures.ttftMs)}</b>
          </>
        )}
      </p>
    </section>
  );
}
