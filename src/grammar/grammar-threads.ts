import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ChorusError } from "../protocol/errors.ts";
import { LimitedThread, ThreadEnded, TookTooLong } from "../threads/limited-thread.ts";
import type { GrammarPort, GrammarThread } from "./grammar-service.ts";
import type { GrammarSource } from "./grammar-source.ts";
import type { CompiledProgram, GrammarHome, GrammarVocabulary } from "./grammar-home.ts";
import { ThreadMatcher } from "./thread-matcher.ts";

export interface GrammarLimits {
  /** Most time to take the vocabulary. */
  readonly startMs: number;
  readonly compileMs: number;
  /** How long others wait for a grammar that is being compiled. Then it keeps the thread for itself. */
  readonly patienceMs: number;
  /** Threads that slow grammars may keep at once, until they are compiled. */
  readonly maxSlow: number;
  /** Most time to compute one token's mask. */
  readonly maskMs: number;
}

export const DEFAULT_LIMITS: GrammarLimits = {
  startMs: 60_000,
  compileMs: 5_000,
  patienceMs: 200,
  maxSlow: 3,
  maskMs: 2_000,
};

const WHAT = "The grammar thread";

/**
 * Compiles grammars in one thread and follows them in another, beside the engine's. A grammar that takes for ever delays only
 * its own requests: those behind it are soon compiled in a new thread, and masks are made by turns. What ends with a thread
 * goes on in the next one.
 */
export class GrammarThreads implements GrammarHome {
  readonly #vocabulary: () => GrammarVocabulary;
  readonly #openPort: () => GrammarPort;
  readonly #limits: GrammarLimits;
  #compiling: GrammarThread | null = null;
  readonly #slow = new Set<GrammarThread>();
  #following: { readonly thread: GrammarThread; readonly started: Promise<unknown> } | null = null;
  #numMatchers = 0;
  #isDisposed = false;

  constructor(vocabulary: () => GrammarVocabulary, openPort: () => GrammarPort, limits = DEFAULT_LIMITS) {
    this.#vocabulary = vocabulary;
    this.#openPort = openPort;
    this.#limits = limits;
  }

  async compile(source: GrammarSource): Promise<CompiledProgram> {
    const { compileMs, patienceMs } = this.#limits;
    for (;;) {
      try {
        const compiled = await this.#compileThread().ask({ type: "compile", source }, compileMs, patienceMs);
        return compiled as CompiledProgram;
      } catch (error) {
        if (error instanceof TookTooLong) throw tookTooLong(source.param, compileMs, "to compile");
        // It was ended because of another grammar, or with the page that started it.
        if (!(error instanceof ThreadEnded)) throw error;
      }
    }
  }

  async follow(program: string, endTokenIds: readonly number[], param: string): Promise<GrammarMatcher | null> {
    const { maskMs } = this.#limits;
    const grammar = { id: ++this.#numMatchers, program, endTokenIds, vocabSize: this.#vocabulary().vocabSize, maskMs };
    const matcher = new ThreadMatcher(grammar, () => this.#followingThread());
    try {
      return (await matcher.next()) ? matcher : null;
    } catch (error) {
      matcher.dispose();
      throw error instanceof TookTooLong ? tookTooLong(param, maskMs, "to find its first tokens") : error;
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const thread of [...this.#slow, this.#compiling, this.#following?.thread]) thread?.end(disposed());
  }

  #compileThread(): GrammarThread {
    if (this.#isDisposed) throw disposed();
    if (this.#compiling?.isEnded === false) return this.#compiling;
    const mayLeave = () => {
      for (const one of this.#slow) if (!one.isLeft) this.#slow.delete(one);
      if (this.#slow.size >= this.#limits.maxSlow) return false;
      this.#slow.add(thread);
      return true;
    };
    const thread: GrammarThread = new LimitedThread(this.#openPort(), WHAT, mayLeave);
    return (this.#compiling = thread);
  }

  /** Returns the thread that has the vocabulary. */
  async #followingThread(): Promise<GrammarThread> {
    if (this.#isDisposed) throw disposed();
    if (this.#following?.thread.isEnded !== false) {
      const thread: GrammarThread = new LimitedThread(this.#openPort(), WHAT);
      const started = thread.ask({ type: "start", vocabulary: this.#vocabulary() }, this.#limits.startMs);
      this.#following = { thread, started };
    }
    const { thread, started } = this.#following;
    await started.catch((error: unknown) => {
      if (!(error instanceof TookTooLong)) throw error;
      throw new ChorusError("internal_error", `${WHAT} can't be started: it takes too long.`);
    });
    return thread;
  }
}

function tookTooLong(param: string, ms: number, toDo: string): ChorusError {
  const message = `${param} takes longer than ${ms / 1000} s ${toDo}; make it smaller or simpler.`;
  return new ChorusError("invalid_value", message, param);
}

const disposed = () => new ChorusError("engine_disposed", "The engine was disposed of.");
