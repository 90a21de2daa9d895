import { useEffect, useId } from "react";
import { flushSync } from "react-dom";
import type { AppState } from "../../state/app/app-state.ts";
import { fitWhenDone } from "../../state/batch/fit-when-done.ts";
import { MAX_PANES } from "../../state/workspace/workspace.ts";
import { focusMessageOf } from "../chat/Composer.tsx";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { numStepsOf, Run, useSteps } from "../explain/Run.tsx";
import { useStore } from "../use-store.ts";
import { askFour } from "./ask-four.ts";
import { IDEAS, type Idea } from "./idea-list.ts";
import css from "./Ideas.module.css";

/** The pictures rest after less than four seconds. */
const STEP_MS = 250;

/** Three cards with ideas for a first visit. */
export function Ideas({ app }: { app: AppState }) {
  const { batch, demo, engine, workspace } = app;
  const { ideas } = batch;
  const titleId = useId();
  const isReady = useStore(engine.store, ({ status }) => status === "ready");
  useEffect(() => {
    ideas.markSeen();
  }, [ideas]);

  /** Goes to a pane, since the card that had the focus disappears. */
  const goTo = (number: number) => {
    flushSync(() => {
      ideas.close();
      workspace.select(number);
      batch.dock.show(false);
    });
    const pane = workspace.store.getState().panes.find((one) => one.number === number);
    if (pane) focusMessageOf(pane);
  };
  const ask = () => {
    const askedPanes = askFour(app);
    const [first] = askedPanes;
    fitWhenDone(askedPanes, batch.timeline, batch.dock);
    if (first) goTo(first.number);
    else workspace.undoList.notify(`${MAX_PANES} panes are open: close one first`);
  };
  const startDemo = () => {
    ideas.close();
    void demo.start();
  };
  return (
    <section className={css.ideas} aria-labelledby={titleId}>
      <div className={css.head}>
        <h3 id={titleId}>Ideas to try</h3>
        <Button look="quiet" onClick={() => goTo(workspace.store.getState().current)}>
          Skip
        </Button>
      </div>
      <ul className={css.cards}>
        <li>
          <button type="button" className={css.card} onClick={ask}>
            <Card idea={IDEAS.four} />
          </button>
        </li>
        <li>
          <button type="button" className={css.card} disabled={!isReady} onClick={startDemo}>
            <Card idea={IDEAS.demo} />
          </button>
        </li>
        <li>
          <a className={css.card} href="#/bench" onClick={() => ideas.close()}>
            <Card idea={IDEAS.bench} />
          </a>
        </li>
      </ul>
    </section>
  );
}

function Card({ idea: { title, words, picture } }: { idea: Idea }) {
  const { upTo } = useSteps(numStepsOf(picture), STEP_MS);
  return (
    <>
      <span className={css.picture}>
        <Run rows={picture} upTo={upTo} label="" hasNames={false} />
      </span>
      <span className={css.title}>
        {title}
        <Icon name="northeast" />
      </span>
      <span className={css.words}>{words}</span>
    </>
  );
}
