import type { CSSProperties } from "react";
import { demoResult, SIZES_IN_WORDS, speedup, type Demo, type DemoRun, type DemoState } from "../../state/demo/demo.ts";
import type { EngineControl, EngineState } from "../../state/engine/engine-control.ts";
import { Button, Icon } from "../components/Button.tsx";
import { classNames } from "../class-names.ts";
import { useStore } from "../use-store.ts";

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
    <div className="box grid flex-none grid-cols-[minmax(0,380px)_minmax(0,1fr)_auto_auto] items-center gap-x-6 gap-y-2 px-4 py-3 max-xl:grid-cols-[minmax(0,1fr)_auto_auto] max-sm:grid-cols-[minmax(0,1fr)_auto] max-sm:gap-x-3 max-sm:gap-y-1.5 max-sm:px-3 max-sm:py-2">
      <div className="max-xl:col-[1/4] max-sm:col-[1/3]">
        <h2 className="t-18 tracking-[-0.01em] max-sm:[font:600_15px/20px_var(--sans)]">
          {capitalized(SIZES_IN_WORDS[size])} questions, twice
        </h2>
        {/* As high as its longest sentence: nothing below moves when it changes. */}
        <p className="min-h-10 text-pretty text-ink-2 max-xl:min-h-5 max-sm:min-h-8 max-sm:t-12">
          {phase === "closed" ? WAITS[status] : sentence(state)}
        </p>
      </div>
      <dl className="grid gap-2 max-sm:col-[1/3] max-sm:gap-0.75">
        <Bar name="All at once" run={together} scaleMs={scaleMs} />
        <Bar name="One after the other" run={apart} scaleMs={scaleMs} isPlain />
      </dl>
      <p className="grid min-w-33 max-sm:flex max-sm:min-w-0 max-sm:items-baseline max-sm:gap-1.5 max-sm:whitespace-nowrap">
        <b className="t-live tracking-[-0.02em] max-sm:[font:600_18px/28px_var(--sans)]">
          {phase === "done" ? `${speedup(together, apart)}×` : "–"}
        </b>
        <span className="small">
          faster<span className="max-sm:hidden"> together</span>
        </span>
      </p>
      <div className="row gap-1 max-sm:justify-self-end">
        <Button className="max-sm:px-2.5" disabled={isBusy} onClick={() => void demo.start()}>
          <Icon name="again" />
          Run again
        </Button>
        <Button className="max-sm:px-2.5" disabled={isBusy} onClick={() => void demo.start(other)}>
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
    <div className="grid grid-cols-[18ch_minmax(0,1fr)] items-center gap-3 max-sm:grid-cols-[17ch_minmax(0,1fr)] max-sm:gap-2 max-sm:t-12">
      <dt className="text-ink-2">{name}</dt>
      <dd className="row">
        <i
          className={classNames(
            "h-4.5 w-[calc((100%_-_7ch)*var(--share))] min-w-px flex-none rounded-xs bg-ink",
            isPlain && "border-[1.5px] border-ink-3 bg-surface-3",
          )}
          style={style}
          aria-hidden="true"
        />
        <b className="min-w-[6ch] flex-none">
          {run.status === "waiting" ? "–" : `${(run.elapsedMs / 1000).toFixed(1)} s`}
        </b>
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
