import { reservedTokens } from "../settings/question-settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import { ContextCut, tokensOf } from "./context-cut.ts";
import type { Pane } from "./pane.ts";

/** The next question's share of the model's context, in tokens. */
export interface ContextUse {
  readonly draftTokens: number;
  /** Tokens of the whole prompt; null while an answer grows. */
  readonly promptTokens: number | null;
  /** The model's context: prompt and answer together. */
  readonly contextTokens: number;
  /** Turns before this one will not be sent. */
  readonly firstSent: number;
}

/** People type faster than this: typed text is counted when they pause, other changes at once. */
const PAUSE_MS = 250;

/** Counts a pane's draft and its whole prompt, by the tokenizer of the page's engine, between start() and its end. */
export class ContextMeter {
  readonly #store = createStore<ContextUse | null>(() => null);
  /** Null while unknown: before the model is ready, or if a server answers. */
  readonly store: ReadonlyStore<ContextUse | null> = this.#store;
  readonly #pane: Pane;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of the newest count; older ones are ignored. */
  #attempt = 0;
  #cut: { readonly of: ContextCut; readonly engine: object } | null = null;

  constructor(pane: Pane) {
    this.#pane = pane;
  }

  /** Returns the function that stops it. */
  start(): () => void {
    const { store, asking } = this.#pane;
    const unsubscribes = [
      store.subscribe((now, before) => {
        const hasSettled = now.phase === "idle" && (now.phase !== before.phase || now.turns !== before.turns);
        if (hasSettled) void this.#count();
        else if (now.draft !== before.draft || now.phase !== before.phase) this.#countSoon();
      }),
      asking.subscribe((now, before) => {
        if (now.engine === before.engine && now.isRemote === before.isRemote) this.#countSoon();
        else void this.#count();
      }),
    ];
    void this.#count();
    return () => {
      clearTimeout(this.#timer);
      this.#attempt++;
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  }

  #countSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#count(), PAUSE_MS);
  }

  async #count(): Promise<void> {
    clearTimeout(this.#timer);
    const attempt = ++this.#attempt;
    // If it can't be counted, the meter is empty; the question itself will be answered or refused with a reason.
    const use = await this.#measure().catch(() => null);
    if (attempt === this.#attempt) this.#store.setState(use, true);
  }

  async #measure(): Promise<ContextUse | null> {
    const { engine, isRemote, settings, continuesText } = this.#pane.asking.getState();
    const { draft, turns, firstSent, phase } = this.#pane.store.getState();
    if (engine === null || isRemote) return null;
    const tokenize = engine.tokenize.bind(engine);
    const contextTokens = engine.model.contextLength;
    const draftTokens = await tokensOf(draft.trim(), tokenize);
    if (phase !== "idle") return { draftTokens, promptTokens: null, contextTokens, firstSent };
    if (continuesText) {
      return { draftTokens, promptTokens: draftTokens, contextTokens, firstSent: turns.length };
    }
    const { system = "" } = settings;
    if (this.#cut?.engine !== engine || this.#cut.of.turns !== turns || this.#cut.of.system !== system) {
      this.#cut = { of: new ContextCut(turns, system, tokenize), engine };
    }
    const cut = this.#cut.of;
    const answerTokens = reservedTokens(settings, engine.model) ?? 0;
    const first = await cut.firstThatFits(firstSent, draftTokens, contextTokens - answerTokens);
    const promptTokens = (await cut.tokensFrom(first)) + draftTokens;
    return { draftTokens, promptTokens, contextTokens, firstSent: first };
  }
}
