import { Palette } from "../actions/Palette.tsx";
import type { Pane } from "../../state/chat/pane.ts";
import type { Command } from "../../state/commands/commands.ts";
import type { DialogContent } from "../components/Dialog.tsx";
import { lazily } from "../components/Lazily.tsx";
import type { Page } from "../app/page-context.ts";
import type { Term } from "../explain/explanations.ts";

const Help = lazily(async () => (await import("../actions/Help.tsx")).Help);
const Chats = lazily(async () => (await import("../history/Chats.tsx")).Chats);
const AppSettings = lazily(async () => (await import("../settings/AppSettings.tsx")).AppSettings);
const PaneSettings = lazily(async () => (await import("../settings/PaneSettings.tsx")).PaneSettings);
const ModelPicker = lazily(async () => (await import("../models/ModelPicker.tsx")).ModelPicker);
const Prompt = lazily(async () => (await import("../chat/Prompt.tsx")).Prompt);
const Explanation = lazily(async () => (await import("../explain/Explanation.tsx")).Explanation);

/** The dialogs: `overlay.open(DIALOGS.prompt(pane))` opens one. */
export const DIALOGS = {
  palette: (commands: readonly Command[]) => ({
    className:
      "fixed inset-x-0 top-[12vh] bottom-auto mx-auto my-0 max-h-[76vh] backdrop:bg-transparent max-sm:top-2 max-sm:max-h-[calc(100dvh-16px)]",
    name: "Commands",
    widthPx: 560,
    render: (close) => <Palette commands={commands} onClose={close} />,
  }),
  help: (commands: readonly Command[], singleKeys: Page["singleKeys"]) => ({
    className: "p-5",
    headClass: "mb-3 border-0 p-0 [&>h2]:t-20",
    name: "Help",
    title: "Help",
    widthPx: 480,
    render: () => <Help commands={commands} singleKeys={singleKeys} />,
  }),
  chats: () => ({
    className: "h-190 max-sm:h-dvh",
    headClass: "border-0 pt-3 pr-4 pb-0 pl-(--edge) max-sm:pt-2 max-sm:pr-2 [&>h2]:t-20",
    name: "Chats",
    title: "Chats",
    widthPx: 720,
    render: (close, openChats) => <Chats app={openChats()} onClose={close} />,
  }),
  settings: () => ({
    name: "Settings for all panes",
    title: "Settings for all panes",
    widthPx: 420,
    beside: "settings-button",
    render: (_, openChats) => <AppSettings app={openChats()} />,
  }),
  paneSettings: (pane: Pane) => ({
    name: `Settings of pane ${pane.number}`,
    title: `Settings of pane ${pane.number}`,
    widthPx: 420,
    beside: `settings-button-${pane.number}`,
    render: (_, openChats) => <PaneSettings app={openChats()} pane={pane} />,
  }),
  models: (first: "Models" | "Connections") => ({
    // On a phone everything scrolls together, else the footer would take half of the window.
    className: "max-sm:open:block max-sm:overflow-auto",
    name: "Models",
    widthPx: 920,
    render: (close, openChats) => <ModelPicker app={openChats()} first={first} onClose={close} />,
  }),
  prompt: (pane: Pane) => ({
    name: "Prompt",
    widthPx: 760,
    render: (close) => <Prompt pane={pane} onClose={close} />,
  }),
  explanation: (term: Term, name: string) => ({
    name: `About ${name}`,
    title: "How the batch works",
    widthPx: 460,
    render: (_, openChats) => <Explanation app={openChats()} first={term} />,
  }),
} satisfies Record<string, (...about: never[]) => DialogContent>;
