import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { continuesText } from "../../state/settings/settings.ts";
import { useStore } from "../use-store.ts";

/** Returns whether the model continues a pane's text instead of answering it. */
export function useContinuesText({ settings, engine }: Pick<AppState, "settings" | "engine">, pane: Pane): boolean {
  const own = useStore(pane.store, (state) => state.settings);
  const shared = useStore(settings.store);
  const isRemote = useStore(pane.store, (state) => state.answerer !== null);
  const hasTemplate = useStore(engine.store, (state) => state.status !== "ready" || state.engine.model.chat);
  return continuesText({ ...shared, ...own }, { chat: isRemote || hasTemplate });
}
