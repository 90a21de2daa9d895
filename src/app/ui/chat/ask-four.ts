import type { Pane } from "../../state/chat/pane.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";

/** Asks empty panes, opened if necessary, a question each. Returns the asked ones: fewer than four if there is no room. */
export function askFour(workspace: Workspace): readonly Pane[] {
  const isUnused = ({ store, asking }: Pane) => {
    const { turns, draft, phase } = store.getState();
    return turns.length === 0 && draft.trim() === "" && phase === "idle" && !asking.getState().isRemote;
  };
  const unused = () => workspace.store.getState().panes.filter(isUnused);
  while (unused().length < STARTERS.length && workspace.addPane() !== null);
  const panes = unused().slice(0, STARTERS.length);
  for (const [index, pane] of panes.entries()) {
    const { continuesText } = pane.asking.getState();
    pane.send((continuesText ? BEGINNINGS : STARTERS)[index] ?? "");
  }
  return panes;
}

export const STARTERS: readonly string[] = [
  "Tell me a story about a purple octopus",
  "What is the capital of Canada?",
  "Why is the sky blue?",
  "Tell me a joke",
];

/** Asked with a calculator that the model must call. */
export const SUM_STARTER = "What is 17 times 23?";

/** For models that continue text instead of answering. */
export const BEGINNINGS: readonly string[] = [
  "Once upon a time, in a house at the edge of the sea,",
  "The capital of Canada is",
  "The sky is blue because",
  "Dear Sir or Madam,",
];
