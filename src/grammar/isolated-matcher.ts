import type { AnswerWarning } from "../protocol/openai.ts";
import { ThreadEnded } from "../threads/limited-thread.ts";
import type { WarningMatcher } from "./grammar-compiler.ts";
import type { GrammarAnswer } from "./grammar-service.ts";
import type { GrammarSource } from "./grammar-source.ts";
import type { GrammarThread } from "./grammar-thread.ts";

interface IsolatedGrammar {
  readonly id: number;
  readonly source: GrammarSource;
  readonly endTokenIds: readonly number[];
  readonly vocabSize: number;
  readonly limits: { readonly compileMs: number; readonly maskMs: number };
}

/** A matcher in another thread. Keeps its last mask, with the allowed next tokens, and the tokens that it took. */
export class IsolatedMatcher implements WarningMatcher {
  readonly endTokenIds: readonly number[];
  readonly mask: Uint32Array;
  warnings: readonly AnswerWarning[] = [];
  readonly #grammar: IsolatedGrammar;
  readonly #threadNow: () => GrammarThread;
  readonly #onDispose: () => void;
  readonly #accepted: number[] = [];
  /** Null until it is opened. */
  #thread: GrammarThread | null = null;
  /** Whether the mask is that of the next token. */
  #isPrepared = false;
  #isClosed = false;

  /**
   * @param threadNow returns the thread to open it in; called again when that thread has been ended
   * @param onDispose called once
   */
  constructor(grammar: IsolatedGrammar, threadNow: () => GrammarThread, onDispose: () => void) {
    this.#grammar = grammar;
    this.endTokenIds = grammar.endTokenIds;
    this.mask = new Uint32Array(Math.ceil(grammar.vocabSize / 32));
    this.#threadNow = threadNow;
    this.#onDispose = onDispose;
  }

  async open(): Promise<void> {
    const { id, source, endTokenIds, limits } = this.#grammar;
    this.#thread = this.#threadNow();
    const call = { type: "open", id, source, endTokenIds, accepted: this.#accepted } as const;
    this.#take(await this.#thread.ask(call, limits.compileMs));
  }

  async prepareMask(): Promise<boolean> {
    if (this.#isClosed) return false;
    if (this.#isPrepared) return true;
    try {
      return await this.#next();
    } catch {
      this.dispose();
      return false;
    }
  }

  accept(tokenId: number): boolean {
    const isAllowed = this.#isPrepared && (((this.mask[tokenId >>> 5] ?? 0) >>> (tokenId & 31)) & 1) === 1;
    if (!isAllowed || this.#isClosed) return false;
    this.#isPrepared = false;
    this.#accepted.push(tokenId);
    if (this.endTokenIds.includes(tokenId)) this.dispose();
    return true;
  }

  dispose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isPrepared = false;
    const { id, limits } = this.#grammar;
    this.#thread?.ask({ type: "close", id }, limits.maskMs).catch(() => undefined);
    this.#onDispose();
  }

  async #next(): Promise<boolean> {
    const { id, limits } = this.#grammar;
    const accepted = this.#accepted.slice(-1);
    try {
      const answer = await this.#thread?.ask({ type: "next", id, accepted }, limits.maskMs);
      return answer !== undefined && this.#take(answer);
    } catch (error) {
      // Another grammar took too long.
      if (!(error instanceof ThreadEnded) || this.#isClosed) throw error;
      await this.open();
      return this.#isPrepared;
    }
  }

  #take({ mask, warnings = this.warnings }: GrammarAnswer): boolean {
    this.warnings = warnings;
    if (mask !== null) this.mask.set(mask);
    this.#isPrepared = mask !== null && !this.#isClosed;
    return this.#isPrepared;
  }
}
