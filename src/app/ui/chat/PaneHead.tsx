import { useState, type MouseEvent } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { menuItems, perform } from "../actions/actions.ts";
import { usePage } from "../app/page-context.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { IconButton } from "../components/IconButton.tsx";
import { Menu } from "../components/Menu.tsx";
import { formatCount, formatCounted, formatMs, formatOrdinal, formatRate, orDash, plural } from "../format.ts";
import { useStore } from "../use-store.ts";
import { VoiceBadge } from "../components/VoiceBadge.tsx";
import { AnswererMenu } from "./AnswererMenu.tsx";
import { startDrag } from "./pane-drag.ts";
import css from "./PaneHead.module.css";
import { PaneTitle } from "./PaneTitle.tsx";

interface PaneHeadProps {
  app: AppState;
  pane: Pane;
  onClose: (event: MouseEvent) => void;
}

const IN_MENU = [
  "pane.new",
  "pane.duplicate",
  "pane.left",
  "pane.right",
  "pane.attach",
  "pane.prompt",
  "pane.markdown",
] as const;

/** The pane's head. Dragging it moves the pane. */
export function PaneHead({ app, pane, onClose }: PaneHeadProps) {
  const page = usePage();
  const [isRenaming, setRenaming] = useState(false);
  return (
    <header
      className={css.head}
      data-solo={pane.number}
      draggable={!isRenaming}
      onDragStart={(event) => startDrag(event, pane)}
    >
      <div className={css.title}>
        <VoiceBadge number={pane.number} />
        <PaneTitle
          pane={pane}
          isRenaming={isRenaming}
          onRename={() => setRenaming(true)}
          onDone={() => setRenaming(false)}
        />
        <AnswererMenu app={app} pane={pane} />
        <div className={css.buttons}>
          <SettingsButton pane={pane} />
          <Menu
            name={`More for pane ${pane.number}`}
            items={() => [{ label: "Rename", run: () => setRenaming(true) }, ...menuItems(IN_MENU, page, pane)]}
          />
          <IconButton icon="close" name={`Close pane ${pane.number}`} title="Close" onClick={onClose} />
        </div>
      </div>
      <PaneFigures pane={pane} engine={app.engine} />
    </header>
  );
}

function SettingsButton({ pane }: { pane: Pane }) {
  const page = usePage();
  const numOwn = useStore(pane.store, ({ settings }) => Object.keys(settings).length);
  const name = `Settings of pane ${pane.number}${numOwn === 0 ? "" : `, ${numOwn} of its own`}`;
  return (
    <Button
      id={`settings-button-${pane.number}`}
      look="icon"
      aria-label={name}
      aria-haspopup="dialog"
      title={name}
      onClick={() => perform("pane.settings", page, pane)}
    >
      <Icon name="settings" />
      {numOwn > 0 && <span className={css.mark}>{numOwn}</span>}
    </Button>
  );
}

function PaneFigures({ pane, engine }: { pane: Pane; engine: EngineControl }) {
  const phase = useStore(pane.store, (state) => state.phase);
  const figures = useStore(pane.store, (state) => state.figures);
  const numTurns = useStore(pane.store, (state) => state.turns.length);
  const isUnsent = useStore(pane.store, (state) => state.note?.isUnsent === true);
  const isLoading = useStore(engine.store, (state) => state.status === "loading");

  if (phase === "held") {
    return <p className={css.figures}>{isLoading ? "Waiting for the model" : "Waiting for the engine"}</p>;
  }
  const queuePlace = figures?.queuePlace ?? null;
  if (phase === "queued") {
    if (figures?.retry) return <p className={css.figures}>{figures.retry}</p>;
    if (queuePlace === null) return <p className={css.figures}>Waiting for the first token</p>;
    const waitS = figures?.queueWaitS ?? null;
    return (
      <p className={css.figures}>
        {formatOrdinal(queuePlace)} in queue{waitS !== null && `, about ${formatCount(waitS)} s`}
      </p>
    );
  }
  // Its cache blocks were given to others. It resumes by itself and keeps its text.
  if (queuePlace !== null) {
    return <p className={css.figures}>Paused, {formatCount(figures?.outputTokens ?? 0)} tokens kept</p>;
  }
  if (isUnsent) return <p className={css.unsent}>Not sent</p>;
  if (figures === null) {
    return <p className={css.none}>{numTurns === 0 ? "No answer yet" : formatCounted(numTurns, "answer")}</p>;
  }

  const { tokensPerSecond, ttftMs, outputTokens } = figures;
  return (
    <p className={css.columns}>
      <span>
        <b>{orDash(tokensPerSecond, formatRate)}</b> tok/s
      </span>
      <span>
        TTFT <b>{orDash(ttftMs, formatMs)}</b> ms
      </span>
      <span>
        <b>{formatCount(outputTokens)}</b> {plural(outputTokens, "token")}
      </span>
    </p>
  );
}
