import { useStore } from "zustand";
import { keyLabels } from "../../state/commands/shortcuts.ts";
import { MAX_PANES } from "../../state/workspace/saved-workspace.ts";
import { ActionButton, HelpButton } from "../actions/ActionButton.tsx";
import { perform } from "../actions/actions.ts";
import { isMac } from "../actions/Keys.tsx";
import { useApp, usePage } from "../app/page-context.ts";
import { Button, Icon } from "../components/Button.tsx";
import { EngineStatus } from "../engine/EngineStatus.tsx";
import { Logo } from "../components/Logo.tsx";
import { SendToAll } from "./SendToAll.tsx";
import { ThemeButton } from "./ThemeButton.tsx";
import { HAS_ROOM_FOR_CHATS, useMedia } from "../use-media.ts";
import type { AppState } from "../../state/app/app-state.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import { DTYPE_WORDS } from "../dtype-words.ts";
import { formatBytes } from "../format.ts";

export function Bar() {
  const { engine, workspace, chatSide, announcements } = useApp();
  const page = usePage();
  const isFull = useStore(workspace.store, ({ panes }) => panes.length >= MAX_PANES);
  const whyNot = isFull ? `${MAX_PANES} panes are open: close one first` : null;
  const isShown = useStore(chatSide.store) === "shown";
  // In a narrow window the list of chats is a dialog.
  const chats = useMedia(HAS_ROOM_FOR_CHATS)
    ? ({ action: "chats.side", "aria-expanded": isShown } as const)
    : ({ action: "chats.open", "aria-haspopup": "dialog" } as const);
  return (
    <header className="row h-(--bar-h) gap-3 px-4 max-[1200px]:gap-2 max-[1200px]:px-3 max-[1200px]:py-0 max-sm:gap-0.5 sm:max-[840px]:gap-1 sm:max-[840px]:px-2 sm:max-[840px]:py-0">
      <h1 className="brand">
        <Logo className="max-[420px]:hidden sm:max-md:hidden" />
        <span className="max-[1200px]:sr-only">Chorus</span>
      </h1>
      <ModelButton engine={engine} />
      <div className="min-h-0 min-w-0 flex-1" />
      <EngineStatus engine={engine} />
      <div className="row gap-1">
        <Button
          icon="compose"
          className="max-sm:hidden"
          aria-label="New chat"
          title={`New chat (${keyLabels("Mod+Shift+O", isMac).join("+")}): the one before is in the list of chats`}
          onClick={() => perform("pane.new", page)}
        >
          <span className="max-[1200px]:hidden">New chat</span>
        </Button>
        <Button
          icon="plus"
          className="max-sm:hidden"
          aria-label="Add pane"
          // Not `disabled`: it says why, to keys and screen readers too.
          aria-disabled={whyNot !== null}
          title={whyNot ?? "Add a pane"}
          onClick={() => (whyNot === null ? workspace.addPane() : announcements.announce(whyNot))}
        >
          <span className="max-[1200px]:hidden">Add pane</span>
        </Button>
        <SendToAll workspace={workspace} />
      </div>
      <a
        className="button quiet px-2 max-sm:w-(--icon-h) max-sm:p-0"
        href="#/demo"
        title="Eight questions at once, then one after the other"
      >
        <Icon name="play" />
        <span className="max-lg:sr-only">Demo</span>
      </a>
      <ActionButton icon="chats" name="Chats" {...chats} />
      <ActionButton
        action="palette.open"
        icon="search"
        name="Commands"
        title={`Commands (${keyLabels("Mod+K", isMac).join("+")})`}
        aria-haspopup="dialog"
      />
      <ActionButton
        action="settings.open"
        id="settings-button"
        icon="settings"
        name="Settings for all panes"
        aria-haspopup="dialog"
      />
      <HelpButton />
      <ThemeButton className="max-sm:hidden" />
    </header>
  );
}

/** The model's name; a click opens the list of models and servers. */
function ModelButton({ engine }: Pick<AppState, "engine">) {
  const page = usePage();
  const model = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const label = useStore(engine.chosen, (chosen) => labelOfChoice(chosen.model));
  const name = model?.name ?? label;
  const size = model && `${formatBytes(model.weightBytes)}, ${model.mixture ?? DTYPE_WORDS[model.dtype].toLowerCase()}`;
  return (
    <Button
      className="min-w-0 flex-initial gap-2 max-sm:gap-1 max-sm:border-transparent max-sm:bg-transparent max-sm:px-1 max-sm:text-left min-[1600px]:max-w-95 min-[1600px]:shrink-0"
      aria-label={["Model:", name, size].filter(Boolean).join(" ")}
      aria-haspopup="dialog"
      title={name}
      onClick={() => perform("models.open", page)}
    >
      <b className="overflow-hidden text-ellipsis max-sm:line-clamp-2 max-sm:wrap-anywhere max-sm:whitespace-normal max-sm:[font:600_13px/15px_var(--sans)]">
        {name}
      </b>{" "}
      {/* As wide before the size is known, so that nothing beside it moves. */}
      <span className="min-w-[17ch] text-left font-normal text-ink-3 max-[1600px]:hidden">{size}</span>
      <Icon name="chevron" />
    </Button>
  );
}
