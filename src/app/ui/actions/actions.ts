import type { BackendChoice } from "../../../index.ts";
import type { ThemeChoice } from "../../state/app/theme.ts";
import type { Pane } from "../../state/chat/pane.ts";
import type { Command } from "../../state/commands/commands.ts";
import { MAX_PANES } from "../../state/workspace/saved-workspace.ts";
import type { Page } from "../app/page-context.ts";
import { giveFiles } from "../app/DroppedFiles.tsx";
import { draftingPanes, SEND_TO_ALL_ID } from "../bar/SendToAll.tsx";
import { focusMessageOf } from "../chat/Composer.tsx";
import { showPane } from "../chat/pane-links.ts";
import { chooseFiles } from "../choose-files.ts";
import { docsUrl } from "../components/DocsLink.tsx";
import type { MenuItem } from "../components/Menu.tsx";
import { BACKEND_NAMES } from "../engine/EngineStatus.tsx";
import { HAS_ROOM_FOR_CHATS } from "../use-media.ts";
import { DIALOGS } from "../overlays/Dialogs.tsx";
import { saveAllChats, saveAsMarkdown } from "../save-chats.ts";
import {
  CHATS,
  contextOf,
  EVERYWHERE,
  inGroup,
  WITH_BATCH,
  wordsIn,
  type Action,
  type ActionContext,
  type GroupedAction,
} from "./action.ts";
import { BATCH_ACTIONS } from "./batch-actions.ts";
import { promptActions } from "./prompt-actions.ts";

const isIdle = (pane: Pane) => pane.store.getState().phase === "idle";
const hasTurns = ({ pane }: ActionContext) => pane.store.getState().turns.length > 0;
const hasRoom = ({ panes }: ActionContext) => panes.length < MAX_PANES;
const hasSeveral = ({ panes }: ActionContext) => panes.length > 1;
const newestUndoable = ({ app }: ActionContext) => app.workspace.undoList.store.getState().undoables.at(-1);

function goTo({ app }: ActionContext, pane: Pane | null | undefined): void {
  if (pane) showPane(app, pane);
}

function goToNeighbour(context: ActionContext, steps: number): void {
  const { panes, pane } = context;
  goTo(context, panes.at((panes.indexOf(pane) + steps) % panes.length));
}

function move({ app, panes, pane }: ActionContext, steps: number): void {
  const place = panes.indexOf(pane) + steps + 1;
  app.workspace.movePane(pane, steps);
  app.announcements.announce(`Pane ${pane.number} is now number ${place} of ${panes.length}.`);
}

const openPage = (title: string, page: string, words: string): GroupedAction => ({
  title,
  words,
  when: ({ name }) => name !== page,
  run: () => location.assign(`#/${page}`),
});
const runOn = (backend: BackendChoice): GroupedAction => ({
  title: `Run on: ${BACKEND_NAMES[backend]}`,
  words: "backend webgpu wasm processor graphics",
  when: ({ app }) => app.engine.chosen.getState().backend !== backend,
  run: ({ app }) => void app.engine.useBackend(backend),
});
const chooseTheme = (choice: ThemeChoice, title: string): GroupedAction => ({
  title,
  words: "theme colour appearance mode",
  when: ({ theme }) => theme.store.getState() !== choice,
  run: ({ theme }) => theme.choose(choice),
});
/** All actions but those of saved prompts. Within a group, the palette has their order. */
const ACTIONS = {
  ...inGroup("Chats", CHATS, {
    "panes.send": {
      title: "Send to all",
      keys: "Alt+A",
      words: "message every pane ask broadcast",
      run: () => document.getElementById(SEND_TO_ALL_ID)?.showPopover(),
    },
    "panes.drafts": {
      title: "Send every pane's own draft",
      words: "all messages together at once",
      when: ({ panes }) => draftingPanes(panes).length > 0,
      run: ({ panes }) => {
        for (const pane of draftingPanes(panes)) pane.sendDraft();
      },
    },
    "chats.open": {
      title: "Find a chat",
      keys: "Alt+H",
      words: "history list search closed earlier open delete",
      run: ({ overlay }) => overlay.open(DIALOGS.chats()),
    },
    "chats.side": {
      title: ({ app }) =>
        `${app.chatSide.store.getState() === "shown" ? "Hide" : "Show"} the list of chats at the side`,
      words: "sidebar history",
      when: () => matchMedia(HAS_ROOM_FOR_CHATS).matches,
      run: ({ app, pane }) => {
        app.chatSide.toggle();
        if (app.chatSide.store.getState() === "hidden") focusMessageOf(pane);
      },
    },
    "settings.open": {
      title: "Settings for all panes",
      words: "temperature system prompt sampling seed preset import export options preferences",
      run: ({ overlay }) => overlay.open(DIALOGS.settings()),
    },
    "pane.settings": {
      title: "Settings of this pane",
      words: "temperature system prompt sampling seed preset options",
      run: ({ overlay, pane }) => overlay.open(DIALOGS.paneSettings(pane)),
    },
    "pane.again": {
      title: "Regenerate the last answer",
      words: "again retry",
      when: (context) => isIdle(context.pane) && hasTurns(context),
      run: ({ pane }) => pane.regenerate(),
    },
    "pane.continue": {
      title: "Continue this answer",
      words: "go on length",
      when: ({ pane }) => pane.canContinueAnswer,
      run: ({ pane }) => pane.continueAnswer(),
    },
    "pane.duplicate": {
      title: "Duplicate this pane",
      label: "Duplicate",
      words: "copy fork compare settings seeds side by side difference",
      when: hasRoom,
      run: ({ app, pane }) => void app.workspace.duplicatePane(pane),
    },
    "pane.left": {
      title: "Move this pane left",
      label: "Move left",
      words: "order",
      when: ({ panes, pane }) => panes[0] !== pane,
      run: (context) => move(context, -1),
    },
    "pane.right": {
      title: "Move this pane right",
      label: "Move right",
      words: "order",
      when: ({ panes, pane }) => panes.at(-1) !== pane,
      run: (context) => move(context, 1),
    },
    "pane.prompt": {
      title: "Show this chat's prompt",
      label: "Show prompt",
      words: "template tokens sent",
      when: (context) => hasTurns(context) && context.pane.asking.getState().showsPrompt,
      run: ({ overlay, pane }) => overlay.open(DIALOGS.prompt(pane)),
    },
    "pane.attach": {
      title: "Add a file to the question",
      label: "Add a file …",
      words: "attach upload document text pdf csv import drop paste",
      run: ({ app, pane }) => chooseFiles((files) => void giveFiles(app, pane, files), { multiple: true }),
    },
    "pane.markdown": {
      title: "Save this chat as Markdown",
      label: "Save as Markdown",
      words: "export file",
      when: hasTurns,
      run: ({ pane }) => void saveAsMarkdown(pane),
    },
    "pane.new": {
      title: "New chat",
      keys: "Mod+Shift+O",
      words: "clear empty begin start",
      run: ({ app, pane }) => {
        app.workspace.newChat(pane);
        showPane(app, pane);
      },
    },
    "pane.add": {
      title: "Add a pane",
      keys: "Alt+N",
      words: "chat open beside",
      when: hasRoom,
      run: (context) => goTo(context, context.app.workspace.addPane()),
    },
    "pane.close": {
      title: "Close this pane",
      keys: "Alt+W",
      run: (context) => goTo(context, context.app.workspace.closePane(context.pane)),
    },
    undo: {
      title: (context) => {
        const newest = newestUndoable(context);
        return newest ? `Undo: ${newest.title}` : "Undo";
      },
      keys: "Mod+Z",
      isTextFirst: true,
      words: "back restore closed cleared",
      when: (context) => newestUndoable(context) !== undefined,
      run: ({ app }) => app.workspace.undoList.undo(),
    },
    "pane.next": {
      title: "Go to the next pane",
      keys: "Alt+ArrowDown",
      when: hasSeveral,
      run: (context) => goToNeighbour(context, 1),
    },
    "pane.previous": {
      title: "Go to the previous pane",
      keys: "Alt+ArrowUp",
      when: hasSeveral,
      run: (context) => goToNeighbour(context, -1),
    },
    "pane.stop": {
      title: "Stop this answer",
      keys: "Escape",
      when: ({ pane }) => !isIdle(pane),
      run: ({ pane }) => pane.stop(),
    },
    "panes.stop": {
      title: "Stop all answers",
      keys: "Mod+.",
      when: ({ panes }) => !panes.every(isIdle),
      run: ({ panes }) => {
        for (const pane of panes) pane.stop();
      },
    },
    "demo.leave": { ...openPage("Back to the chats", "", ""), keys: "Escape", on: ["demo"] },
  }),
  ...inGroup("Data", CHATS, {
    "panes.export": {
      title: "Export all chats",
      words: "save json file",
      run: ({ app }) => void saveAllChats(app),
    },
  }),
  ...inGroup("Help", EVERYWHERE, {
    "palette.open": {
      title: "Show all commands",
      keys: "Mod+K",
      run: (page) => {
        page.prompts.refresh();
        const enabled = commandsOf(page).filter(({ id, isEnabled }) => id !== "palette.open" && isEnabled?.());
        page.overlay.open(DIALOGS.palette(enabled));
      },
    },
    "help.open": {
      title: "Show keyboard shortcuts and documents",
      keys: "?",
      words: "keys help manual about",
      run: (page) => page.overlay.open(DIALOGS.help(commandsOf(page))),
    },
    "docs.open": {
      title: "Open the documents",
      words: "help manual documentation troubleshooting library",
      run: () => void window.open(docsUrl("README"), "_blank", "noopener"),
    },
  }),
  ...inGroup("Pages", EVERYWHERE, {
    "models.open": {
      title: "Choose a model",
      words: "download hub gpt load switch weights dtype delete files",
      on: CHATS,
      run: ({ overlay }) => overlay.open(DIALOGS.models("Models")),
    },
    "connections.open": {
      title: "Connections to servers",
      words: "remote server vllm sglang ollama llama openai api key endpoint",
      on: CHATS,
      run: ({ overlay }) => overlay.open(DIALOGS.models("Connections")),
    },
    "page.chats": { ...openPage("Back to the chats", "", ""), on: ["bench", "player", "docs", "serving"] },
    "page.demo": openPage("Run the demo", "demo", "eight at once compare"),
    "page.serving": openPage(
      "Serving: how the engine is shared",
      "serving",
      "settings batching policy queue cache drafts alerts thresholds link",
    ),
    "page.bench": openPage("Open the benchmark", "bench", "measure speed"),
    "page.player": openPage("Open the player", "player", "recording replay file"),
  }),
  ...inGroup("Batch", WITH_BATCH, {
    "engine.start": {
      title: "Restart the engine",
      when: ({ app }) => ["failed", "dead", "unsupported"].includes(app.engine.store.getState().status),
      run: ({ app }) => void app.engine.start(),
    },
    "backend.auto": runOn("auto"),
    "backend.webgpu": runOn("webgpu"),
    "backend.cpu": runOn("cpu"),
  }),
  ...inGroup("Appearance", EVERYWHERE, {
    "theme.system": chooseTheme("system", "System theme"),
    "theme.light": chooseTheme("light", "Light theme"),
    "theme.dark": chooseTheme("dark", "Dark theme"),
  }),
  ...BATCH_ACTIONS,
};

export type ActionId = keyof typeof ACTIONS;

/** Returns an action as it is on a page. @param own the pane that it is for [the current one] */
function commandOf([id, action]: readonly [string, Action], context: ActionContext): Command {
  return {
    ...action,
    id,
    get title() {
      return wordsIn(action.title, context);
    },
    isEnabled: () => action.when?.(context) ?? true,
    run: () => action.run(context),
  };
}

export function commandsOf(page: Page): readonly Command[] {
  const context = contextOf(page);
  const all: readonly [string, Action][] = [...Object.entries(ACTIONS), ...Object.entries(promptActions(context))];
  // Where nothing can compute, a page that says so is in the chats' place: it has what other pages have, too.
  const lacksChats = page.name === "chats" && context.app.engine.store.getState().status === "unsupported";
  return all
    .filter(([, { on }]) => on.includes(page.name) && (!lacksChats || on.length > 1))
    .map((entry) => commandOf(entry, context));
}

/** @param pane the pane that it is for [the current one] */
export function perform(id: ActionId, page: Page, pane?: Pane): void {
  ACTIONS[id].run(contextOf(page, pane));
}

export function menuItems(ids: readonly ActionId[], page: Page, pane?: Pane): readonly MenuItem[] {
  const context = contextOf(page, pane);
  return ids.map((id) => {
    const { title, label = title, when, run }: Action = ACTIONS[id];
    return { label: wordsIn(label, context), isDisabled: when?.(context) === false, run: () => run(context) };
  });
}
