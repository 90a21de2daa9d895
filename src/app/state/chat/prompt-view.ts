import { toErrorData, type ChorusErrorData, type RenderedChat } from "../../../index.ts";
import { messagesFrom } from "./conversation.ts";
import type { Pane } from "./pane.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

type PromptState =
  | { readonly status: "closed" }
  | {
      readonly status: "asking" | "shown" | "failed";
      readonly pane: number;
      readonly prompt: RenderedChat | null;
      readonly error: ChorusErrorData | null;
    };

/** Shows the whole prompt of a pane's newest question, as the chat template renders it. */
export class PromptView {
  readonly #store = createStore<PromptState>(() => ({ status: "closed" }));
  readonly store: ReadonlyStore<PromptState> = this.#store;

  async show(pane: Pane): Promise<void> {
    const { engine, settings } = pane.asking.getState();
    const { turns, firstSent } = pane.store.getState();
    const last = turns.at(-1);
    if (engine === null || last === undefined) return;
    const asking: PromptState = { status: "asking", pane: pane.number, prompt: null, error: null };
    this.#store.setState(asking, true);
    let outcome: PromptState;
    try {
      const withoutAnswer = [...turns.slice(0, -1), { ...last, answer: "" }];
      const prompt = await engine.chat.render({ messages: messagesFrom(withoutAnswer, firstSent, settings.system) });
      outcome = { ...asking, status: "shown", prompt };
    } catch (error) {
      outcome = { ...asking, status: "failed", error: toErrorData(error) };
    }
    if (this.#store.getState() === asking) this.#store.setState(outcome, true);
  }

  close(): void {
    this.#store.setState({ status: "closed" }, true);
  }
}
