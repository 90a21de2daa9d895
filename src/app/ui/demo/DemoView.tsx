import { useLayoutEffect, useRef } from "react";
import type { Demo } from "../../state/demo/demo.ts";
import { useStore } from "../use-store.ts";
import { DemoPane } from "./DemoPane.tsx";
import { DemoRace } from "./DemoRace.tsx";
import css from "./DemoView.module.css";

interface DemoViewProps {
  demo: Demo;
  /** Whether the batch replaces the answers; the times stay. */
  isRaceOnly: boolean;
}

/** Replaces the person's panes while the demo is open: the race on top, its eight panes below. */
export function DemoView({ demo, isRaceOnly }: DemoViewProps) {
  const panes = useStore(demo.store, (state) => state.panes);
  const view = useRef<HTMLElement>(null);
  // The element that had the focus is gone.
  useLayoutEffect(() => {
    view.current?.focus();
  }, []);
  return (
    <section ref={view} className={css.view} aria-label="Demo" tabIndex={-1}>
      <DemoRace demo={demo} />
      {!isRaceOnly && (
        // The arrow keys scroll it if the window is too low.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role
        <div className={css.panes} role="group" aria-label="Answers" tabIndex={0}>
          {panes.map((pane) => (
            <DemoPane key={pane.number} pane={pane} />
          ))}
        </div>
      )}
    </section>
  );
}
