import type { CSSProperties } from "react";
import { demoResult, SIZES_IN_WORDS, speedup, type Demo, type DemoRun, type DemoState } from "../../state/demo/demo.ts";
import type { EngineControl, EngineState } from "../../state/engine/engine-control.ts";
import { Button } from "../components/Button.tsx";
import { classNames } from "../class-names.ts";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import css from "./DemoRace.module.css";

/** Minimum time of the bars' full width, so that they start small. */
const SHORTEST_SCALE_MS = 3000;

/** Shows both times as growing bars, and compares them at the end. */
export function DemoRace({ demo, engine }: { demo: Demo; engine: EngineControl }) {
  const state = useStore(demo.store);
  const status = useStore(engine.store, (current) => current.status);
  const { phase, size, together, apart } = state;
  const other = size === 8 ? 16 : 8;
  const isBusy = phase === "running" || status !== "ready";
  const scaleMs = Math.max(SHORTEST_SCALE_MS, together.elapsedMs, apart.elapsedMs);
  return (
    <div className={css.race}>
      <div className={css.words}>
        <h2>{capitalized(SIZES_IN_WORDS[size])} questions, twice</h2>
        <p>{phase === "closed" ? WAITS[status] : sentence(state)}</p>
      </div>
      <dl className={css.bars}>
        <Bar name="All at once" run={together} scaleMs={scaleMs} />
        <Bar name="One after the other" run={apart} scaleMs={scaleMs} isPlain />
      </dl>
      <p className={css.result}>
        <b>{phase === "done" ? `${speedup(together, apart)}×` : "–"}</b>
        <span className="small">
          faster<span className={css.long}> together</span>
        </span>
      </p>
      <div className={classNames("row tight", css.buttons)}>
        <Button disabled={isBusy} onClick={() => void demo.start()}>
          <Icon name="again" />
          Run again
        </Button>
        <Button disabled={isBusy} onClick={() => void demo.start(other)}>
          Ask {other}
        </Button>
      </div>
    </div>
  );
}

const NO_ENGINE = "The engine does not run. The chats say why, and start it.";
const WAITS: Record<EngineState["status"], string> = {
  loading: "It begins when the model is ready.",
  ready: "",
  unsupported: NO_ENGINE,
  failed: NO_ENGINE,
  dead: NO_ENGINE,
};

interface BarProps {
  name: string;
  run: DemoRun;
  scaleMs: number;
  isPlain?: boolean;
}

function Bar({ name, run, scaleMs, isPlain = false }: BarProps) {
  const style = { "--share": run.elapsedMs / scaleMs } as CSSProperties;
  return (
    <div className={css.row}>
      <dt className="soft">{name}</dt>
      <dd className="row">
        <i className={classNames(css.bar, isPlain && css.plain)} style={style} aria-hidden="true" />
        <b>{run.status === "waiting" ? "–" : `${(run.elapsedMs / 1000).toFixed(1)} s`}</b>
      </dd>
    </div>
  );
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

function sentence(state: DemoState): string {
  const { phase, size, together } = state;
  switch (phase) {
    case "closed":
      return "";
    case "running":
      if (together.status === "waiting")
        return "Warming up: the first short bars below are a few tokens of each, so that neither run pays for the start.";
      return together.status === "done"
        ? "Now one after the other: the same questions and seeds, each alone in its steps."
        : `All ${SIZES_IN_WORDS[size]} at once: each step computes a token for every one of them.`;
    case "failed":
      return "The demo stopped: an answer did not finish. Your chats are untouched.";
    case "done":
      return demoResult(state);
  }
}
