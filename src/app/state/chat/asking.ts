import type { ChorusEngine } from "../../../index.ts";
import type { RemoteModel } from "../../remote/answerer.ts";
import { remoteName, type Connections, type SpillOver } from "../connections/connections.ts";
import type { EngineControl } from "../engine/engine-control.ts";
import { labelOfChoice } from "../models/model-choice.ts";
import { continuesText } from "../settings/question-settings.ts";
import type { Settings } from "../settings/settings.ts";
import { derivedStore, type ReadonlyStore } from "../store.ts";

/** Who answers a pane's next question, and how. */
export interface Asking {
  /** The pane's own settings, over those of the page's address, over those of all panes. */
  readonly settings: Settings;
  readonly isRemote: boolean;
  /** The model's name, and its server's if one answers. */
  readonly answerer: string;
  /** Where the question goes if this page's queue is too long; null: it waits. */
  readonly spillOver: SpillOver | null;
  /** This page's engine, whoever answers; null while it is not ready. */
  readonly engine: ChorusEngine | null;
  /** Whether text is continued instead of answered. */
  readonly continuesText: boolean;
  /** Whether the answerer can go on with an answer that has begun. */
  readonly canContinue: boolean;
  /** Whether prompts can be shown: servers don't show what their models read, and plain text is its own prompt. */
  readonly showsPrompt: boolean;
}

export interface AskingContext {
  readonly engine: EngineControl;
  /** The settings for all panes. */
  readonly settings: ReadonlyStore<Settings>;
  /** Settings from the page's address. They override those for all panes on this visit. */
  readonly addressSettings: Settings;
  readonly connections: Connections;
}

export function localName({ store, chosen }: EngineControl): string {
  const state = store.getState();
  return state.status === "ready" ? state.engine.model.name : labelOfChoice(chosen.getState().model);
}

export function askingOf(
  pane: ReadonlyStore<{ readonly settings: Settings; readonly answerer: RemoteModel | null }>,
  { engine: control, settings: shared, addressSettings, connections }: AskingContext,
): ReadonlyStore<Asking> {
  const read = () => {
    const { settings, answerer } = pane.getState();
    const state = control.store.getState();
    const engine = state.status === "ready" ? state.engine : null;
    const canContinue = connections.canContinue(answerer);
    const name = answerer ? remoteName(answerer) : localName(control);
    const spillOver = answerer ? null : connections.store.getState().spillOver;
    return [settings, shared.getState(), answerer !== null, engine, canContinue, name, spillOver] as const;
  };
  return derivedStore(
    [pane, control.store, control.chosen, shared, connections.store],
    read,
    ([own, ofAll, isRemote, engine, canContinue, answerer, spillOver]) => {
      const settings = { ...ofAll, ...addressSettings, ...own };
      const isText = continuesText(settings, { chat: isRemote || engine === null || engine.model.chat });
      const showsPrompt = engine !== null && !isRemote && !isText;
      return { settings, isRemote, answerer, spillOver, engine, continuesText: isText, canContinue, showsPrompt };
    },
  );
}
