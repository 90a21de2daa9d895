import { useEffect, useRef, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { Theme } from "../../state/app/theme.ts";
import { Duel, type DuelState } from "../../state/duel/duel.ts";
import { FIGURES_INTERVAL_MS } from "../../state/batch/batch-metrics.ts";
import { Announcer } from "../app/Announcer.tsx";
import { PageHead } from "../bar/PageHead.tsx";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import { DuelDialog } from "./DuelDialog.tsx";
import css from "./DuelPage.module.css";
import { DuelSideView } from "./DuelSideView.tsx";

/** One question, answered by sides that differ in one thing. */
export function DuelPage({ theme, app }: { theme: Theme; app: AppState }) {
  const [duel] = useState(() => new Duel({ ...app.paneContext, mode: app.batch.mode, now: () => performance.now() }));
  const state = useStore(duel.store, (current) => current);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    void app.shelf.refresh();
    const timer = setInterval(() => duel.tick(), FIGURES_INTERVAL_MS);
    return () => {
      clearInterval(timer);
      void duel.close();
    };
  }, [app, duel]);

  const first = state.runs[0];
  return (
    <div className={css.page}>
      <PageHead title="Duel" theme={theme}>
        {state.phase === "running" ? (
          <Button onClick={() => void duel.close()}>
            <Icon name="stop" />
            Stop
          </Button>
        ) : (
          <Button look="ink" onClick={() => dialog.current?.showModal()}>
            Set up a duel
          </Button>
        )}
      </PageHead>
      <main className={css.main}>
        {first === undefined ? (
          <p className={css.empty}>
            One question, answered by two to four sides that differ in one thing: the seed, the temperature, the
            weights, the model, who answers, or the batching mode.
          </p>
        ) : (
          <>
            <div className={css.question}>
              <h2 dir="auto">{state.question}</h2>
              <p>{sentence(state)}</p>
            </div>
            <div className={css.sides}>
              {state.runs.map((run, i) => (
                <DuelSideView
                  key={run.pane.number}
                  run={run}
                  other={i > 0 ? first : state.runs.length === 2 ? (state.runs[1] ?? null) : null}
                  isFirst={i === 0}
                />
              ))}
            </div>
          </>
        )}
      </main>
      <DuelDialog ref={dialog} app={app} onStart={(setup) => void duel.start(setup)} />
      <Announcer announcements={app.announcements} />
    </div>
  );
}

function sentence({ phase, isTogether, message }: DuelState): string {
  if (phase === "failed") return `A side was cut off: ${message}`;
  if (isTogether) return "All sides at the same time; what this page's engine computes shares its steps.";
  const how =
    "One side after the other: one engine has one model, one format of weights and one batching mode at a time.";
  return phase === "done" ? `${how} The engine is as it was before.` : how;
}
