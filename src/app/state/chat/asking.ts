import type { ChorusEngine } from "../../../index.ts";
import type { RemoteModel } from "../../remote/answerer.ts";
import { remoteName, type Connections } from "../connections/connections.ts";
import type { EngineControl } from "../engine/engine-control.ts";
import { labelOfChoice } from "../models/model-choice.ts";
import { continuesText } from "../settings/question-settings.ts";
import type { Settings } from "../settings/settings.ts";
import type { SharedSettings } from "../settings/shared-settings.ts";
import { derivedStore, type ReadonlyStore } from "../store.ts";

/** Who answers a pane's next question, and how. */
export interface Asking {
  /** The pane's own settings over those of all panes. */
  readonly settings: Settings;
  readonly isRemote: boolean;
  /** The model's name, and its server's if one answers. */
  readonly answerer: string;
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
  readonly settings: SharedSettings;
  /** The servers that may answer. */
  readonly connections: Connections;
}

/** Returns the name of this page's model. */
export function localName({ store, chosen }: EngineControl): string {
  const state = store.getState();
  return state.status === "ready" ? state.engine.model.name : labelOfChoice(chosen.getState().model);
}

/** Returns who answers the pane of this store. */
export function askingOf(
  pane: ReadonlyStore<{ readonly settings: Settings; readonly answerer: RemoteModel | null }>,
  { engine: control, settings: shared, connections }: AskingContext,
): ReadonlyStore<Asking> {
  const read = () => {
    const { settings, answerer } = pane.getState();
    const state = control.store.getState();
    const engine = state.status === "ready" ? state.engine : null;
    const canContinue = connections.canContinue(answerer);
    const name = answerer ? remoteName(answerer) : localName(control);
    return [settings, shared.store.getState(), answerer !== null, engine, canContinue, name] as const;
  };
  return derivedStore(
    [pane, control.store, control.chosen, shared.store, connections.store],
    read,
    ([own, , isRemote, engine, canContinue, answerer]) => {
      const settings = { ...shared.inherited(), ...own };
      const isText = continuesText(settings, { chat: isRemote || engine === null || engine.model.chat });
      const showsPrompt = engine !== null && !isRemote && !isText;
      return { settings, isRemote, answerer, engine, continuesText: isText, canContinue, showsPrompt };
    },
  );
}
