import type { ReactNode } from "react";
import type { Pane } from "../../state/chat/pane.ts";
import { Palette } from "../actions/Palette.tsx";
import type { AppState } from "../../state/app/app-state.ts";
import type { Command } from "../../state/commands/commands.ts";
import type { SingleKeys } from "../../state/commands/single-keys.ts";
import { lazily } from "../components/Lazily.tsx";
import type { Term } from "../explain/explanations.ts";

const Help = lazily(async () => (await import("../actions/Help.tsx")).Help);
const Chats = lazily(async () => (await import("../history/Chats.tsx")).Chats);
const AppSettings = lazily(async () => (await import("../settings/AppSettings.tsx")).AppSettings);
const PaneSettings = lazily(async () => (await import("../settings/PaneSettings.tsx")).PaneSettings);
const ModelPicker = lazily(async () => (await import("../models/ModelPicker.tsx")).ModelPicker);
const Prompt = lazily(async () => (await import("../chat/Prompt.tsx")).Prompt);
const Explanation = lazily(async () => (await import("../explain/Explanation.tsx")).Explanation);

/** The dialogs, and what each is about. */
export interface Subjects {
  palette: { readonly commands: readonly Command[] };
  help: { readonly commands: readonly Command[]; readonly singleKeys: SingleKeys };
  chats: unknown;
  settings: unknown;
  "pane-settings": { readonly pane: Pane };
  models: { readonly view: "Models" | "Connections" };
  prompt: { readonly pane: Pane };
  explanation: { readonly term: Term; readonly name: string };
}

export type Kind = keyof Subjects;
export type RequestFor<One extends Kind> = { readonly kind: One } & Subjects[One];
/** Opens a dialog: `{ kind: "prompt", pane }`. */
export type OverlayRequest = { [One in Kind]: RequestFor<One> }[Kind];

export interface DialogKind<Subject> {
  /** Its accessible name. */
  readonly name: (subject: Subject) => string;
  /** The head's words. [the content has a head of its own] */
  readonly title?: (subject: Subject) => string;
  readonly widthPx: number;
  /** Returns the id of the button below which it opens. [in the middle of the window] */
  readonly beside?: (subject: Subject) => string;
  readonly render: (subject: Subject, close: () => void, openChats: () => AppState) => ReactNode;
}

export const DIALOGS: { readonly [One in Kind]: DialogKind<Subjects[One]> } = {
  palette: {
    name: () => "Commands",
    widthPx: 560,
    render: ({ commands }, close) => <Palette commands={commands} onClose={close} />,
  },
  help: {
    name: () => "Help",
    title: () => "Help",
    widthPx: 480,
    render: ({ commands, singleKeys }) => <Help commands={commands} singleKeys={singleKeys} />,
  },
  chats: {
    name: () => "Chats",
    title: () => "Chats",
    widthPx: 720,
    render: (_, close, openChats) => <Chats app={openChats()} onClose={close} />,
  },
  settings: {
    name: () => "Settings for all panes",
    title: () => "Settings for all panes",
    widthPx: 420,
    beside: () => "settings-button",
    render: (_, _close, openChats) => <AppSettings app={openChats()} />,
  },
  "pane-settings": {
    name: ({ pane }) => `Settings of pane ${pane.number}`,
    title: ({ pane }) => `Settings of pane ${pane.number}`,
    widthPx: 420,
    beside: ({ pane }) => `settings-button-${pane.number}`,
    render: ({ pane }, _close, openChats) => <PaneSettings app={openChats()} pane={pane} />,
  },
  models: {
    name: () => "Models",
    widthPx: 920,
    render: ({ view }, close, openChats) => <ModelPicker app={openChats()} first={view} onClose={close} />,
  },
  prompt: {
    name: () => "Prompt",
    widthPx: 760,
    render: ({ pane }, close) => <Prompt pane={pane} onClose={close} />,
  },
  explanation: {
    name: ({ name }) => `About ${name}`,
    title: () => "How the batch works",
    widthPx: 460,
    render: ({ term }, _close, openChats) => <Explanation batch={openChats().batch} first={term} />,
  },
};
