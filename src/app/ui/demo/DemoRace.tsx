import type { CSSProperties } from "react";
import {
  DEMO_QUESTIONS,
  sameAnswers,
  speedup,
  type Demo,
  type DemoRun,
  type DemoState,
} from "../../state/demo/demo.ts";
import type { EngineControl, EngineState } from "../../state/engine/engine-control.ts";
import { Button } from "../components/Button.tsx";
import { classNames } from "../class-names.ts";
import { formatCount, formatRate } from "../format.ts";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import css from "./DemoRace.module.css";

/** Minimum time of the bars' full width, so that they start small. */
const SHORTEST_SCALE_MS = 3000;

/** Shows both times as growing bars, and compares them at the end. */
export function DemoRace({ demo, engine }: { demo: Demo; engine: EngineControl }) {
  const state = useStore(demo.store);
  const { phase, together, apart } = state;
  const status = useStore(engine.store, (current) => current.status);
  const scaleMs = Math.max(SHORTEST_SCALE_MS, together.elapsedMs, apart.elapsedMs);
  return (
    <div className={css.race}>
      <div className={css.words}>
        <h2>Eight questions, twice</h2>
        <p>{phase === "closed" ? WAITS[status] : sentence(state)}</p>
      </div>
      <dl className={css.bars}>
        <Bar name="All at once" run={together} scaleMs={scaleMs} />
        <Bar name="One after the other" run={apart} scaleMs={scaleMs} isPlain />
      </dl>
      <p className={css.result}>
        <b>{phase === "done" ? `${speedup(together, apart)}×` : "–"}</b>
        <span>
          faster<span className={css.long}> together</span>
        </span>
      </p>
      <Button disabled={phase === "running" || status !== "ready"} onClick={() => void demo.start()}>
        <Icon name="again" />
        Run again
      </Button>
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
      <dt>{name}</dt>
      <dd>
        <i className={classNames(css.bar, isPlain && css.plain)} style={style} aria-hidden="true" />
        <b>{run.status === "waiting" ? "–" : `${(run.elapsedMs / 1000).toFixed(1)} s`}</b>
      </dd>
    </div>
  );
}

const rate = ({ tokens, elapsedMs }: DemoRun) => formatRate((tokens * 1000) / elapsedMs);

function sentence({ phase, together, apart }: DemoState): string {
  switch (phase) {
    case "closed":
      return "";
    case "running":
      if (together.status === "waiting")
        return "Warming up: the first short bars below are a few tokens of each, so that neither run pays for the start.";
      return together.status === "done"
        ? "Now one after the other: the same questions and seeds, each alone in its steps."
        : "All eight at once: each step computes a token for every one of them.";
    case "failed":
      return "The demo stopped: an answer did not finish. Your chats are untouched.";
    case "done": {
      const same = sameAnswers(together, apart);
      const kept =
        same === DEMO_QUESTIONS.length
          ? "Exactly the same eight answers both times"
          : `Only ${same} of the eight answers are the same both times, which is a bug`;
      return `${kept}: ${formatCount(together.tokens)} tokens at ${rate(together)} per second, then ${formatCount(apart.tokens)} at ${rate(apart)}.`;
    }
  }
}
