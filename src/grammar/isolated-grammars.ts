import { ChorusError } from "../protocol/errors.ts";
import { ThreadEnded, TookTooLong } from "../threads/limited-thread.ts";
import type { GrammarSource } from "./grammar-source.ts";
import type { Grammars, GrammarVocabulary, WarningMatcher } from "./grammar-compiler.ts";
import type { GrammarPort } from "./grammar-service.ts";
import { GrammarThread } from "./grammar-thread.ts";
import { IsolatedMatcher } from "./isolated-matcher.ts";

export interface GrammarLimits {
  /** Most time to load the module and the vocabulary. */
  readonly startMs: number;
  readonly compileMs: number;
  /** Most time to compute one token's mask. The whole batch waits for it. */
  readonly maskMs: number;
  /** A grammar that took longer keeps the thread that compiled it for itself. */
  readonly sharedMs: number;
  /** Most threads that compile a grammar, or keep one for themselves. */
  readonly maxThreads: number;
  /** Most threads that keep an unused grammar for the next request. */
  readonly maxSpare: number;
  /** Most grammars to remember as quick. */
  readonly maxKnown: number;
}

export const DEFAULT_LIMITS: GrammarLimits = {
  startMs: 60_000,
  compileMs: 5_000,
  maskMs: 2_000,
  sharedMs: 200,
  maxThreads: 4,
  maxSpare: 2,
  maxKnown: 64,
};

/** A grammar, and the thread in which all its requests open their matchers. */
interface Home {
  readonly key: string;
  /** Settles when the grammar is compiled. */
  readonly compiled: Promise<void>;
  /** The thread that a slow grammar keeps for itself; null for the shared one. */
  thread: GrammarThread | null;
  /** Sequences that follow the grammar, or will. */
  numUsers: number;
}

/**
 * Compiles grammars and follows them in threads beside the engine's, so that a grammar that takes for ever delays only its
 * own requests. A grammar is first compiled in a thread that nobody else uses. If that was quick, it is compiled again in
 * the shared thread. Otherwise it stays where it is. Requests with the same grammar share its compilation, at once and later;
 * a failed one is forgotten. When a thread must be ended, its other matchers go on in a new one: they are opened again with
 * the tokens they have taken.
 */
export class IsolatedGrammars implements Grammars {
  readonly #vocabulary: () => GrammarVocabulary;
  readonly #openPort: () => GrammarPort;
  readonly #limits: GrammarLimits;
  /** Homes by the grammar's text, the least recently used first. */
  readonly #homes = new Map<string, Home>();
  readonly #idle: GrammarThread[] = [];
  readonly #threads = new Set<GrammarThread>();
  /** Callbacks of compilations that wait for a thread. */
  readonly #waiting: (() => void)[] = [];
  #numTaken = 0;
  #shared: GrammarThread | null = null;
  #numMatchers = 0;
  #isDisposed = false;

  constructor(vocabulary: () => GrammarVocabulary, openPort: () => GrammarPort, limits = DEFAULT_LIMITS) {
    this.#vocabulary = vocabulary;
    this.#openPort = openPort;
    this.#limits = limits;
  }

  async matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<WarningMatcher[]> {
    for (;;) {
      try {
        return await this.#matchersOnce(source, endTokenIds, count);
      } catch (error) {
        // Its thread was ended because of another grammar, or with the page that started it.
        if (!(error instanceof ThreadEnded) || this.#isDisposed) throw refusal(error, source, this.#limits);
      }
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const thread of this.#threads) thread.end();
    this.#threads.clear();
    this.#homes.clear();
    this.#idle.length = 0;
    this.#shared = null;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #matchersOnce(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<WarningMatcher[]> {
    const home = this.#homeOf(source, endTokenIds);
    home.numUsers += count;
    const made = Array.from({ length: count }, () =>
      this.#matcher(
        source,
        endTokenIds,
        () => this.#threadOf(home),
        () => this.#leave(home),
      ),
    );
    try {
      await home.compiled;
      for (const one of made) await one.open();
      return made;
    } catch (error) {
      for (const one of made) one.dispose();
      throw error;
    }
  }

  #matcher(
    source: GrammarSource,
    endTokenIds: readonly number[],
    threadNow: () => GrammarThread,
    onDispose: () => void,
  ): IsolatedMatcher {
    const { vocabSize } = this.#vocabulary();
    const grammar = { id: ++this.#numMatchers, source, endTokenIds, vocabSize, limits: this.#limits };
    return new IsolatedMatcher(grammar, threadNow, onDispose);
  }

  #homeOf(source: GrammarSource, endTokenIds: readonly number[]): Home {
    // The end tokens decide whether any text is possible, and the parameter's name is part of the refusal.
    const key = JSON.stringify([source, endTokenIds]);
    const known = this.#homes.get(key);
    this.#homes.delete(key);
    const home = known ?? this.#newHome(key, source, endTokenIds);
    this.#homes.set(key, home);
    return home;
  }

  #newHome(key: string, source: GrammarSource, endTokenIds: readonly number[]): Home {
    const compiling = this.#compile(source, endTokenIds);
    const compiled = compiling.then(
      (thread) => void (home.thread = thread),
      (error: unknown) => {
        if (this.#homes.get(key) === home) this.#homes.delete(key);
        throw error;
      },
    );
    const home: Home = { key, compiled, thread: null, numUsers: 0 };
    return home;
  }

  /** Returns the thread that the grammar keeps; null if it was quick. */
  async #compile(source: GrammarSource, endTokenIds: readonly number[]): Promise<GrammarThread | null> {
    const thread = await this.#take();
    const nothing = () => undefined;
    const trial = this.#matcher(source, endTokenIds, () => thread, nothing);
    try {
      await thread.started;
      const beganMs = performance.now();
      await trial.open();
      if (performance.now() - beganMs > this.#limits.sharedMs) return thread;
    } catch (error) {
      this.#giveBack(thread, { keep: !thread.isEnded });
      throw error;
    } finally {
      trial.dispose();
    }
    this.#giveBack(thread, { keep: true });
    return null;
  }

  #threadOf(home: Home): GrammarThread {
    if (home.thread?.isEnded) {
      // The new one takes its place at once: others wait for threads until these sequences end.
      this.#threads.delete(home.thread);
      home.thread = this.#start();
    }
    return home.thread ?? this.#sharedThread();
  }

  /** Counts one user less. */
  #leave(home: Home): void {
    home.numUsers -= 1;
    if (home.numUsers > 0 || this.#homes.get(home.key) !== home) return;
    if (home.thread !== null && (home.thread.isEnded || this.#waiting.length > 0)) return this.#forget(home);
    const unused = [...this.#homes.values()].filter(({ numUsers }) => numUsers === 0);
    const { maxSpare, maxKnown } = this.#limits;
    const spare = unused.filter(({ thread }) => thread !== null);
    const quick = unused.filter(({ thread }) => thread === null);
    for (const one of spare.slice(0, -maxSpare)) this.#forget(one);
    for (const one of quick.slice(0, -maxKnown)) this.#forget(one);
  }

  #forget({ key, thread }: Home): void {
    this.#homes.delete(key);
    if (thread !== null) this.#giveBack(thread, { keep: false });
  }

  /** Returns a thread that nobody else uses, as soon as there may be one more. */
  async #take(): Promise<GrammarThread> {
    if (this.#numTaken >= this.#limits.maxThreads) {
      const spare = [...this.#homes.values()].find(({ thread, numUsers }) => thread !== null && numUsers === 0);
      if (spare) this.#forget(spare);
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#isDisposed) throw new ThreadEnded();
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
    const thread = new GrammarThread(this.#openPort(), this.#vocabulary(), this.#limits.startMs);
    this.#threads.add(thread);
    return thread;
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
