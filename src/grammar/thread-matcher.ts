import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ThreadEnded, TookTooLong } from "../threads/limited-thread.ts";
import { LATER, TURN_MS, type GrammarAnswer, type GrammarThread } from "./grammar-calls.ts";

interface FollowedGrammar {
  readonly id: number;
  readonly program: string;
  readonly endTokenIds: readonly number[];
  readonly vocabSize: number;
  readonly maskMs: number;
}

/** A matcher in another thread. Keeps its last mask, and the tokens that it took. */
export class ThreadMatcher implements GrammarMatcher {
  readonly endTokenIds: readonly number[];
  readonly mask: Uint32Array;
  readonly #grammar: FollowedGrammar;
  readonly #threadNow: () => Promise<GrammarThread>;
  readonly #accepted: number[] = [];
  /** Where it is opened, and how many of the tokens are known there. */
  #thread: GrammarThread | null = null;
  #numSent = 0;
  /** Whether the mask is that of the next token. */
  #isPrepared = false;
  #isClosed = false;

  /** @param threadNow returns the thread to follow it in: another one when that has been ended */
  constructor(grammar: FollowedGrammar, threadNow: () => Promise<GrammarThread>) {
    this.#grammar = grammar;
    this.endTokenIds = grammar.endTokenIds;
    this.mask = new Uint32Array(Math.ceil(grammar.vocabSize / 32));
    this.#threadNow = threadNow;
  }

  async prepareMask(): Promise<boolean> {
    if (this.#isClosed || this.#isPrepared) return this.#isPrepared;
    try {
      return await this.next();
    } catch {
      this.dispose();
      return false;
    }
  }

  accept(tokenId: number): boolean {
    const isAllowed = this.#isPrepared && (((this.mask[tokenId >>> 5] ?? 0) >>> (tokenId & 31)) & 1) === 1;
    if (!isAllowed) return false;
    this.#isPrepared = false;
    this.#accepted.push(tokenId);
    if (this.endTokenIds.includes(tokenId)) this.dispose();
    return true;
  }

  dispose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isPrepared = false;
    const { id, maskMs } = this.#grammar;
    this.#thread?.ask({ type: "close", id }, maskMs).catch(() => undefined);
  }

  /** Makes the mask of the next token, as prepareMask does. @throws TookTooLong; ChorusError for a thread that can't work */
  async next(): Promise<boolean> {
    let leftMs = this.#grammar.maskMs;
    while (leftMs > 0 && !this.#isClosed) {
      try {
        const answer = await this.#ask();
        if (answer instanceof Uint32Array) this.mask.set(answer);
        if (answer !== LATER) return (this.#isPrepared = answer !== false && !this.#isClosed);
        leftMs -= TURN_MS;
      } catch (error) {
        // Another grammar took too long, or the page that started the thread is gone.
        if (!(error instanceof ThreadEnded)) throw error;
      }
    }
    if (this.#isClosed) return false;
    throw new TookTooLong();
  }

  async #ask(): Promise<GrammarAnswer> {
    const { id, program, endTokenIds, maskMs } = this.#grammar;
    const thread = await this.#threadNow();
    if (thread !== this.#thread) {
      this.#thread = thread;
      this.#numSent = 0;
      await thread.ask({ type: "open", id, program, endTokenIds }, maskMs);
    }
    const accepted = this.#accepted.slice(this.#numSent);
    this.#numSent += accepted.length;
    return thread.ask({ type: "next", id, accepted }, maskMs);
  }
}
