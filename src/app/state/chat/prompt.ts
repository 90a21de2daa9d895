import type { RenderedChat } from "../../../index.ts";
import { messagesFrom } from "./conversation.ts";
import type { Pane } from "./pane.ts";

/** Returns the whole prompt of a pane's newest question, as the chat template renders it; null if there is none, or no engine. */
export async function promptOf(pane: Pane): Promise<RenderedChat | null> {
  const { engine, settings } = pane.asking.getState();
  const { turns, contextStart } = pane.store.getState();
  const last = turns.at(-1);
  if (engine === null || last === undefined) return null;
  const withoutAnswer = [...turns.slice(0, -1), { ...last, answer: "" }];
  return engine.chat.render({ messages: messagesFrom(withoutAnswer, contextStart, settings.system) });
}
