import { Palette } from "../actions/Palette.tsx";
import type { Pane } from "../../state/chat/pane.ts";
import type { Command } from "../../state/commands/commands.ts";
import { lazyComponent } from "../components/LazyComponent.tsx";
import type { DialogContent } from "../app/page-context.ts";
import type { Term } from "../explain/explanations.ts";

const Help = lazyComponent(async () => (await import("../actions/Help.tsx")).Help);
const Chats = lazyComponent(async () => (await import("../history/Chats.tsx")).Chats);
const AppSettings = lazyComponent(async () => (await import("../settings/AppSettings.tsx")).AppSettings);
const PaneSettings = lazyComponent(async () => (await import("../settings/PaneSettings.tsx")).PaneSettings);
const ModelPicker = lazyComponent(async () => (await import("../models/ModelPicker.tsx")).ModelPicker);
const Prompt = lazyComponent(async () => (await import("../chat/Prompt.tsx")).Prompt);
const Explanation = lazyComponent(async () => (await import("../explain/Explanation.tsx")).Explanation);

/** The dialogs: `overlay.open(DIALOGS.prompt(pane))` opens one. */
export const DIALOGS = {
  palette: (commands: readonly Command[]) => ({
    className:
      "fixed inset-x-0 top-[12vh] bottom-auto mx-auto my-0 max-h-[76vh] backdrop:bg-transparent max-sm:top-2 max-sm:max-h-[calc(100dvh-16px)]",
    name: "Commands",
    widthPx: 560,
    body: <Palette commands={commands} />,
  }),
  help: (commands: readonly Command[]) => ({
    className: "p-5",
    headClass: "mb-3 border-0 p-0 [&>h2]:t-20",
    title: "Help",
    widthPx: 480,
    body: <Help commands={commands} />,
  }),
  chats: () => ({
    className: "h-190 max-sm:h-dvh",
    headClass: "border-0 pt-3 pr-4 pb-0 pl-(--edge) max-sm:pt-2 max-sm:pr-2 [&>h2]:t-20",
    title: "Chats",
    widthPx: 720,
    body: <Chats />,
  }),
  settings: () => ({
    title: "Settings for all panes",
    widthPx: 420,
    beside: "settings-button",
    body: <AppSettings />,
  }),
  paneSettings: (pane: Pane) => ({
    title: `Settings of pane ${pane.number}`,
    widthPx: 420,
    beside: `settings-button-${pane.number}`,
    body: <PaneSettings pane={pane} />,
  }),
  models: (first: "Models" | "Connections") => ({
    // On a phone everything scrolls together, else the footer would take half of the window.
    className: "max-sm:open:block max-sm:overflow-auto",
    name: "Models",
    widthPx: 920,
    body: <ModelPicker first={first} />,
  }),
  prompt: (pane: Pane) => ({
    name: "Prompt",
    widthPx: 760,
    body: <Prompt pane={pane} />,
  }),
  explanation: (term: Term, name: string) => ({
    name: `About ${name}`,
    title: "How the batch works",
    widthPx: 460,
    body: <Explanation first={term} />,
  }),
} satisfies Record<string, (...about: never[]) => DialogContent>;
