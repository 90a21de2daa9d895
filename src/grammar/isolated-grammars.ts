import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ChorusError, toChorusError } from "../protocol/errors.ts";
import type { GrammarSource } from "./ebnf-of.ts";
import type { Grammars, GrammarVocabulary } from "./grammar-compiler.ts";
import { LimitedThread, ThreadEnded, TookTooLong } from "../threads/limited-thread.ts";
import type { GrammarCall, GrammarPort } from "./grammar-service.ts";

export interface GrammarLimits {
  /** Loading the module and giving it the vocabulary. */
  readonly startMs: number;
  readonly compileMs: number;
  /** One token's mask. The whole batch waits for it. */
  readonly maskMs: number;
  /** A grammar that took longer keeps the thread that compiled it for itself. */
  readonly sharedMs: number;
  /** Threads in which grammars are compiled, or that keep one for themselves. */
  readonly maxThreads: number;
}

export const USUAL_LIMITS: GrammarLimits = {
  startMs: 60_000,
  compileMs: 5_000,
  maskMs: 2_000,
  sharedMs: 200,
  maxThreads: 4,
};

type GrammarThread = LimitedThread<GrammarCall, Uint32Array | null>;

/**
 * Compiles grammars and follows them in threads beside the engine's, so that a grammar that takes for ever costs its own
 * request and nobody else's. A grammar is compiled in a thread where nobody waits. If that was quick, it is compiled once
 * more in the thread that all share. Else it stays where it is. When a thread has to be ended, its other matchers go on in
 * a new one: they are opened again with the tokens they have taken.
 */
export class IsolatedGrammars implements Grammars {
  readonly #vocabulary: () => GrammarVocabulary;
  readonly #openPort: () => GrammarPort;
  readonly #limits: GrammarLimits;
  readonly #idle: GrammarThread[] = [];
  readonly #threads = new Set<GrammarThread>();
  /** Those that wait until they may have a thread. */
  readonly #waiting: (() => void)[] = [];
  #numTaken = 0;
  #shared: GrammarThread | null = null;
  #numMatchers = 0;
  #isDisposed = false;

  constructor(vocabulary: () => GrammarVocabulary, openPort: () => GrammarPort, limits = USUAL_LIMITS) {
    this.#vocabulary = vocabulary;
    this.#openPort = openPort;
    this.#limits = limits;
  }

  async matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]> {
    for (;;) {
      try {
        return await this.#matchersOnce(source, endTokenIds, count);
      } catch (error) {
        // Its thread was ended by another's grammar, or is gone with the page that lent it.
        if (!(error instanceof ThreadEnded) || this.#isDisposed) throw refusal(error, source, this.#limits);
      }
    }
  }

  async #matchersOnce(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]> {
    const { vocabSize } = this.#vocabulary();
    const grammar = { source, endTokenIds, vocabSize, limits: this.#limits };
    const matcher = () => new IsolatedMatcher({ ...grammar, id: ++this.#numMatchers }, () => this.#sharedThread());
    const thread = await this.#take();
    const made: IsolatedMatcher[] = [];
    let isQuick = false;
    try {
      const first = matcher();
      made.push(first);
      const beganMs = performance.now();
      await first.open(thread, this.#limits.compileMs);
      isQuick = performance.now() - beganMs <= this.#limits.sharedMs;
      if (isQuick) {
        made.pop();
        first.dispose();
        this.#giveBack(thread, { keep: true });
      }
      const home = isQuick ? this.#sharedThread() : thread;
      while (made.length < count) {
        const one = matcher();
        made.push(one);
        await one.open(home, this.#limits.compileMs);
      }
    } catch (error) {
      for (const one of made) one.dispose();
      if (!isQuick) this.#giveBack(thread, { keep: !thread.isEnded });
      throw error;
    }
    if (!isQuick) {
      let numOpen = count;
      for (const one of made) one.onDispose = () => void (--numOpen === 0 && this.#giveBack(thread, { keep: false }));
    }
    return made;
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const thread of this.#threads) thread.end();
    this.#threads.clear();
    this.#idle.length = 0;
    this.#shared = null;
  }

  /** Returns a thread that nobody else uses, as soon as there may be one more. */
  async #take(): Promise<GrammarThread> {
    if (this.#numTaken >= this.#limits.maxThreads) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#numTaken += 1;
    return this.#idle.pop() ?? this.#start();
  }

  #giveBack(thread: GrammarThread, { keep }: { keep: boolean }): void {
    this.#numTaken -= 1;
    if (keep && this.#idle.length === 0) {
      this.#idle.push(thread);
    } else {
      thread.end();
      this.#threads.delete(thread);
    }
    this.#waiting.shift()?.();
  }

  #sharedThread(): GrammarThread {
    if (this.#shared === null || this.#shared.isEnded) this.#shared = this.#start();
    return this.#shared;
  }

  #start(): GrammarThread {
    const thread: GrammarThread = new LimitedThread(this.#openPort(), "What holds answers to a grammar");
    this.#threads.add(thread);
    thread.ask({ type: "start", vocabulary: this.#vocabulary() }, this.#limits.startMs).catch((error: unknown) => {
      const late = "What holds answers to a grammar can't be loaded: it takes too long.";
      thread.end(error instanceof TookTooLong ? new ChorusError("internal_error", late) : toChorusError(error));
    });
    return thread;
  }
}

interface IsolatedGrammar {
  readonly id: number;
  readonly source: GrammarSource;
  readonly endTokenIds: readonly number[];
  readonly vocabSize: number;
  readonly limits: GrammarLimits;
}

/** A matcher in another thread. Here are its last mask, which knows what the next token may be, and the tokens it took. */
class IsolatedMatcher implements GrammarMatcher {
  readonly endTokenIds: readonly number[];
  readonly mask: Uint32Array;
  readonly #grammar: IsolatedGrammar;
  readonly #nextHome: () => GrammarThread;
  readonly #accepted: number[] = [];
  /** Null until it is opened. */
  #thread: GrammarThread | null = null;
  /** Whether the mask is that of the next token. */
  #isPrepared = false;
  #isClosed = false;
  onDispose: () => void = () => undefined;

  constructor(grammar: IsolatedGrammar, nextHome: () => GrammarThread) {
    this.#grammar = grammar;
    this.endTokenIds = grammar.endTokenIds;
    this.mask = new Uint32Array(Math.ceil(grammar.vocabSize / 32));
    this.#nextHome = nextHome;
  }

  async open(thread: GrammarThread, limitMs: number): Promise<void> {
    const { id, source, endTokenIds } = this.#grammar;
    this.#thread = thread;
    this.#take(await thread.ask({ type: "open", id, source, endTokenIds, accepted: this.#accepted }, limitMs));
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
    this.onDispose();
  }

  async #next(): Promise<boolean> {
    const { id, limits } = this.#grammar;
    const accepted = this.#accepted.slice(-1);
    try {
      const mask = await this.#thread?.ask({ type: "next", id, accepted }, limits.maskMs);
      return this.#take(mask ?? null);
    } catch (error) {
      // Another's grammar took too long.
      if (!(error instanceof ThreadEnded) || this.#isClosed) throw error;
      await this.open(this.#nextHome(), limits.compileMs);
      return this.#isPrepared;
    }
  }

  #take(mask: Uint32Array | null): boolean {
    if (mask !== null) this.mask.set(mask);
    this.#isPrepared = mask !== null && !this.#isClosed;
    return this.#isPrepared;
  }
}

function refusal(error: unknown, { param }: GrammarSource, { compileMs }: GrammarLimits): unknown {
  if (error instanceof TookTooLong) {
    const message = `${param} takes longer than ${compileMs / 1000} s to compile; make it smaller or simpler.`;
    return new ChorusError("invalid_value", message, param);
  }
  if (error instanceof ThreadEnded) return new ChorusError("engine_disposed", "The engine was disposed of.");
  return error;
}
