import { toErrorData, type ChorusErrorData, type RenderedChat } from "../../../index.ts";
import { messagesFrom } from "./conversation.ts";
import type { Pane, PaneContext } from "./pane.ts";
import { continuesText } from "../settings/settings.ts";
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
  readonly #context: Pick<PaneContext, "engine" | "settings">;

  constructor(context: Pick<PaneContext, "engine" | "settings">) {
    this.#context = context;
  }

  /** Returns whether there is a question and an engine for it. Continued plain text is its own prompt. */
  canShow(pane: Pane): boolean {
    const { turns, settings: own, answerer } = pane.store.getState();
    const state = this.#context.engine.store.getState();
    if (turns.length === 0 || answerer !== null || state.status !== "ready") return false;
    return !continuesText({ ...this.#context.settings.inherited(), ...own }, state.engine.model);
  }

  async show(pane: Pane): Promise<void> {
    const state = this.#context.engine.store.getState();
    const { turns, firstSent, settings: own } = pane.store.getState();
    const last = turns.at(-1);
    if (state.status !== "ready" || last === undefined) return;
    const asking: PromptState = { status: "asking", pane: pane.number, prompt: null, error: null };
    this.#store.setState(asking, true);
    let outcome: PromptState;
    try {
      const { system } = { ...this.#context.settings.inherited(), ...own };
      const withoutAnswer = [...turns.slice(0, -1), { ...last, answer: "" }];
      const prompt = await state.engine.chat.render({ messages: messagesFrom(withoutAnswer, firstSent, system) });
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
