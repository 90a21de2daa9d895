import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { continuesText } from "../../state/settings/settings.ts";
import { BEGINNINGS, STARTERS } from "./starters.ts";

/**
 * Asks four panes a question each, all at once: empty ones, opened if necessary. Returns the asked panes: fewer if there is no
 * room for four, none if all panes have chats and no more can be opened.
 */
export function askFour({
  workspace,
  engine,
  settings,
}: Pick<AppState, "workspace" | "engine" | "settings">): readonly Pane[] {
  const state = engine.store.getState();
  const isText = continuesText(settings.inherited(), { chat: state.status !== "ready" || state.engine.model.chat });
  const questions = isText ? BEGINNINGS : STARTERS;
  const unused = () => workspace.store.getState().panes.filter(isUnused);
  while (unused().length < questions.length && workspace.addPane() !== null);
  const panes = unused().slice(0, questions.length);
  for (const [index, question] of questions.entries()) panes[index]?.send(question);
  return panes;
}

function isUnused({ store }: Pane): boolean {
  const { turns, draft, phase, answerer } = store.getState();
  return turns.length === 0 && draft.trim() === "" && phase === "idle" && answerer === null;
}
