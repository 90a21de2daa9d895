import { classNames } from "../class-names.ts";
import { useState, type MouseEvent, type KeyboardEvent } from "react";
import { useStore } from "zustand";
import type { Pane } from "../../state/chat/pane.ts";
import type { PaneState } from "../../state/chat/pane-state.ts";
import type { Figures } from "../../state/chat/request-stats.ts";
import { menuItems, perform } from "../actions/actions.ts";
import { useApp, usePage } from "../app/page-context.ts";
import { Button, IconButton, Icon } from "../components/Button.tsx";
import { Menu, type MenuItem } from "../components/Menu.tsx";
import { formatCount, formatCounted, formatMs, formatOrdinal, formatRate, orDash, plural } from "../format.ts";
import { PaneBadge } from "../components/PaneBadge.tsx";
import { startDrag } from "./pane-drag.ts";
import { titleOfChat } from "../../state/workspace/saved-workspace.ts";
import { selectOnShow } from "../on-show.ts";
import { localName } from "../../state/chat/asking.ts";
import { remoteChoices, remoteName, writeRemote } from "../../state/connections/connections.ts";
import { keyOfChoice } from "../../state/models/model-choice.ts";
import type { ModelLibraryState } from "../../state/models/model-library.ts";
import { isOnThisComputer } from "../../state/models/model-list.ts";

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
export function PaneHead({ pane, onClose }: { pane: Pane; onClose: (event: MouseEvent) => void }) {
  const page = usePage();
  const title = useStore(pane.store, titleOfChat);
  const [isRenaming, setRenaming] = useState(false);
  return (
    <header
      className="flex-none border-b border-line py-2 pr-2 pl-4 [&[draggable=true]]:cursor-grab"
      data-highlight={pane.number}
      draggable={!isRenaming}
      onDragStart={(event) => startDrag(event, pane)}
    >
      <div className="row h-(--icon-h)">
        <PaneBadge number={pane.number} />
        {isRenaming ? (
          <TitleBox pane={pane} title={title} onDone={() => setRenaming(false)} />
        ) : (
          // A double click does what "Rename" in the menu does.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
          <h2
            className="title min-w-0 flex-1 truncate tracking-[-0.005em]"
            dir="auto"
            title={title}
            onDoubleClick={() => setRenaming(true)}
          >
            {title}
          </h2>
        )}
        <AnswererMenu pane={pane} />
        <div className="flex flex-none">
          <SettingsButton pane={pane} />
          <Menu
            name={`More for pane ${pane.number}`}
            items={() => [{ label: "Rename", run: () => setRenaming(true) }, ...menuItems(IN_MENU, page, pane)]}
          />
          <IconButton icon="close" name={`Close pane ${pane.number}`} title="Close" onClick={onClose} />
        </div>
      </div>
      <PaneFigures pane={pane} />
    </header>
  );
}

function TitleBox({ pane, title, onDone }: { pane: Pane; title: string; onDone: () => void }) {
  const [typed, setTyped] = useState(title);

  const keep = () => {
    if (typed !== title) pane.rename(typed);
    onDone();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") keep();
    if (event.key !== "Escape") return;
    event.stopPropagation(); // else it would stop the pane's answer too
    onDone();
  };
  return (
    <input
      ref={selectOnShow}
      className="-ml-1.5 h-7 flex-1 px-1.25 t-14 font-semibold"
      dir="auto"
      aria-label="Name of the chat"
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={keep}
    />
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
      icon="settings"
      aria-label={name}
      aria-haspopup="dialog"
      title={name}
      onClick={() => perform("pane.settings", page, pane)}
    >
      {numOwn > 0 && (
        // It lies on the icon's corner, so that nothing moves.
        <span className="absolute -top-px -right-px min-w-3.5 rounded-[7px] bg-ink px-0.75 text-center text-on-ink [font:600_10px/14px_var(--sans)]">
          {numOwn}
        </span>
      )}
    </Button>
  );
}

/** One line, so that nothing moves when its words change. */
const FIGURES = "h-4 overflow-hidden whitespace-nowrap t-12";

/** Columns as wide as their widest figure, so that nothing moves when one changes. One without room is in a line out of sight. */
function PaneFigures({ pane }: { pane: Pane }) {
  const phase = useStore(pane.store, (state) => state.phase);
  const figures = useStore(pane.store, (state) => state.figures);
  const numTurns = useStore(pane.store, (state) => state.turns.length);
  const isUnsent = useStore(pane.store, (state) => state.note?.isUnsent === true);
  const isLoading = useStore(useApp().engine.store, ({ status }) => status === "loading");

  const waiting = waitingWords(phase, figures, isLoading);
  if (waiting !== null) return <p className={classNames(FIGURES, "font-semibold text-ink-2")}>{waiting}</p>;
  if (isUnsent) return <p className={classNames(FIGURES, "font-semibold text-bad")}>Not sent</p>;
  if (figures === null) {
    return (
      <p className={classNames(FIGURES, "text-ink-3")}>
        {numTurns === 0 ? "No answer yet" : formatCounted(numTurns, "answer")}
      </p>
    );
  }

  const { tokensPerSecond, ttftMs, outputTokens } = figures;
  return (
    <p className={classNames(FIGURES, "flex flex-wrap text-ink-3")}>
      <span className="min-w-[9.5ch] flex-none">
        <b className="text-ink-2">{orDash(tokensPerSecond, formatRate)}</b> tok/s
      </span>
      <span className="min-w-[13ch] flex-none">
        TTFT <b className="text-ink-2">{orDash(ttftMs, formatMs)}</b> ms
      </span>
      <span className="min-w-[9.5ch] flex-none">
        <b className="text-ink-2">{formatCount(outputTokens)}</b> {plural(outputTokens, "token")}
      </span>
    </p>
  );
}

/** Returns what the answer waits for; null if it waits for nothing. */
function waitingWords(phase: PaneState["phase"], figures: Figures | null, isLoading: boolean): string | null {
  if (phase === "held") return isLoading ? "Waiting for the model" : "Waiting for the engine";
  const queuePlace = figures?.queuePlace ?? null;
  if (phase !== "queued") {
    // Its cache blocks were given to others. It resumes by itself and keeps its text.
    return queuePlace === null ? null : `Paused, ${formatCount(figures?.outputTokens ?? 0)} tokens kept`;
  }
  if (figures?.retry) return figures.retry;
  if (queuePlace === null) return "Waiting for the first token";
  const waitS = figures?.queueWaitS ?? null;
  return `${formatOrdinal(queuePlace)} in queue${waitS === null ? "" : `, about ${formatCount(waitS)} s`}`;
}

const keysHere = ({ models }: ModelLibraryState) => String(models.filter(isOnThisComputer).map(({ key }) => key));

/** Names who answers a pane, and changes it: a server's model for this pane, a model of this computer for all panes. */
function AnswererMenu({ pane }: { pane: Pane }) {
  const page = usePage();
  const { engine, library, connections } = useApp();
  const name = useStore(pane.asking, ({ answerer }) => answerer);
  // Not rendered at each step of a download.
  useStore(library.store, keysHere);
  const items = (): readonly MenuItem[] => {
    const { answerer } = pane.store.getState();
    const local = engine.chosen.getState().model;
    const { models } = library.store.getState();
    const here = models.filter((model) => isOnThisComputer(model) && model.key !== keyOfChoice(local));
    const switchAll = async (key: string) => {
      if (await library.use(key)) pane.answerBy(null);
      // The list says why it could not be loaded. Where another was chosen meanwhile there is nothing to say.
      else if (library.store.getState().models.some((model) => model.key === key && model.error))
        perform("models.open", page);
    };
    return [
      {
        heading: "This pane is answered by",
        label: `${localName(engine)} (this page)`,
        isChecked: answerer === null,
        run: () => pane.answerBy(null),
      },
      ...remoteChoices(connections.store.getState().connections, answerer).map((remote) => ({
        label: remoteName(remote),
        isChecked: writeRemote(remote) === writeRemote(answerer),
        run: () => pane.answerBy(remote),
      })),
      ...here.map(({ key, title }, index) => ({
        ...(index === 0 && { heading: "All panes of this page will use" }),
        label: title,
        name: `All panes of this page will use ${title}`,
        run: () => void switchAll(key),
      })),
      ...menuItems(["models.open", "connections.open"], page, pane),
    ];
  };
  return (
    <Menu
      name={`Pane ${pane.number} is answered by ${name}`}
      look="quiet"
      className="h-(--icon-h) max-w-[45%] flex-initial gap-0.5 pr-1 pl-2 t-12 text-ink-2"
      items={items}
      onOpen={() => void library.refresh()}
    >
      {/* In a narrow pane the chat's name takes its room; the menu says it. */}
      <span className="min-w-0 truncate @max-[320px]/pane:hidden">{name}</span>
      <Icon name="chevron" />
    </Menu>
  );
}
