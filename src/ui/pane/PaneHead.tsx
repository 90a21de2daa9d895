import type { EngineControl } from "../../state/engine-control.ts";
import type { Pane } from "../../state/pane.ts";
import { Button } from "../Button.tsx";
import { formatCount, formatMs, formatRate } from "../format.ts";
import { Icon } from "../Icon.tsx";
import { useStore } from "../use-store.ts";
import { VoiceBadge } from "../VoiceBadge.tsx";
import css from "./PaneHead.module.css";

interface PaneHeadProps {
  pane: Pane;
  engine: EngineControl;
  onClose: () => void;
}

export function PaneHead({ pane, engine, onClose }: PaneHeadProps) {
  const title = useStore(pane.store, (state) => state.turns[0]?.question ?? "New chat");
  return (
    <header className={css.head}>
      <div className={css.title}>
        <VoiceBadge number={pane.number} />
        <h2 title={title}>{title}</h2>
        <Button look="icon" aria-label={`Close pane ${pane.number}`} title="Close" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      <PaneFigures pane={pane} engine={engine} />
    </header>
  );
}

function PaneFigures({ pane, engine }: { pane: Pane; engine: EngineControl }) {
  const phase = useStore(pane.store, (state) => state.phase);
  const figures = useStore(pane.store, (state) => state.figures);
  const isUnsent = useStore(pane.store, (state) => state.note?.isUnsent === true);
  const isLoading = useStore(engine.store, (state) => state.status === "loading");

  if (phase === "held") {
    return <p className={css.figures}>{isLoading ? "Waiting for the model" : "Waiting for the engine"}</p>;
  }
  if (phase === "queued") return <p className={css.figures}>Waiting for the first token</p>;
  if (isUnsent) return <p className={css.bad}>Not sent</p>;
  if (figures === null) return <p className={css.none}>No answer yet</p>;

  const { tokensPerSecond, ttftMs, outputTokens } = figures;
  return (
    <p className={css.columns}>
      <span>
        <b>{tokensPerSecond === null ? "–" : formatRate(tokensPerSecond)}</b> tok/s
      </span>
      <span>
        TTFT <b>{ttftMs === null ? "–" : formatMs(ttftMs)}</b> ms
      </span>
      <span>
        <b>{formatCount(outputTokens)}</b> {outputTokens === 1 ? "token" : "tokens"}
      </span>
    </p>
  );
}
