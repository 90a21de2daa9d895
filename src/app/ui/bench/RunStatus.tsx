import { useEffect, useState } from "react";

import { type BenchControl, type BenchState, formatDuration } from "../../../../lab/index.ts";
import { Button } from "../components/Button.tsx";
import { listen } from "../listen.ts";
import { useStore } from "../use-store.ts";

/** The run's progress with a Stop button, or how it ended. */
export function RunStatus({ control }: { control: BenchControl }) {
  const state = useStore(control.store);
  const isRunning = state.status === "running";
  return (
    <div className="stack mt-2 gap-2">
      {isRunning && (
        <>
          <Button className="mt-3" onClick={() => control.stop()}>
            Stop
          </Button>
          <progress aria-label="Progress" max={1} value={state.share} />
          <p className="small">{state.what}</p>
          <p className="small">About {formatDuration(state.leftSeconds)} left</p>
          <HiddenNote />
        </>
      )}
      <output className="small">{endingOf(state)}</output>
    </div>
  );
}

function endingOf({ status, what, result }: BenchState): string {
  switch (status) {
    case "idle":
    case "running":
      return "";
    case "done":
      return `Done in ${Math.round(result?.seconds ?? 0)} s`;
    case "stopped":
      return "Stopped. The figures so far are kept.";
    case "failed":
      return `It failed: ${what}`;
  }
}

/** Shown once the tab has been hidden. */
function HiddenNote() {
  const [wasHidden, setWasHidden] = useState(document.hidden);
  useEffect(() => {
    const look = () => setWasHidden((before) => before || document.hidden);
    return listen(document, { visibilitychange: look });
  }, []);
  return (
    <p className="small mt-2 text-warn empty:hidden">
      {wasHidden && "This tab was hidden for a while, which may have slowed the figures down."}
    </p>
  );
}
