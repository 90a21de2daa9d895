import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { AnswerWarning } from "../protocol/openai.ts";
import { LimitedThread, ThreadEnded, TookTooLong } from "../threads/limited-thread.ts";
import { portInPlace } from "../threads/port-in-place.ts";
import type { CompiledGrammar, GrammarCall, GrammarPort, GrammarThread, GrammarVocabulary } from "./grammar-calls.ts";
import type { GrammarSource } from "./grammar-source.ts";
import { ThreadMatcher } from "./thread-matcher.ts";

export const DEFAULT_LIMITS = {
  /** Most time to take the vocabulary. */
  startMs: 60_000,
  compileMs: 5_000,
  /** How long others wait for a grammar that is being compiled. Then it keeps the thread for itself. */
  patienceMs: 200,
  /** Threads that slow grammars may keep at once, until they are compiled. */
  maxSlow: 3,
  /** Most time to compute one token's mask. */
  maskMs: 2_000,
  /** Most characters of programs to keep, with the sources that they are found by. */
  maxKept: 16_000_000,
};
export type GrammarLimits = typeof DEFAULT_LIMITS;

const WHAT = "The grammar thread";

/**
 * Makes the matchers of requests. One thread compiles grammars and another one follows them, beside the engine's. A grammar
 * that takes for ever delays only its own requests: those behind it are soon compiled in a new thread, and masks are made by
 * turns. What ends with a thread goes on in the next one. Requests with the same grammar share its compilation, at once and
 * later; a failed one is forgotten.
 */
export class Grammars {
  readonly #vocabulary: () => GrammarVocabulary;
  readonly #openPort: () => GrammarPort;
  readonly #limits: GrammarLimits;
  /** By the grammar's text, the least recently used first. */
  readonly #known = new Map<string, { readonly compiled: Promise<CompiledGrammar>; size: number }>();
  #compiling: GrammarThread | null = null;
  readonly #slow = new Set<GrammarThread>();
  #following: { readonly thread: GrammarThread; readonly started: Promise<unknown> } | null = null;
  #numMatchers = 0;
  #isDisposed = false;

  /** @param openPort opens a thread; null: all happens in this one, and nothing ends it */
  constructor(vocabulary: () => GrammarVocabulary, openPort: (() => GrammarPort) | null, limits = DEFAULT_LIMITS) {
    this.#vocabulary = vocabulary;
    this.#openPort = openPort ?? grammarPortInPlace;
    this.#limits = limits;
  }

  /**
   * @param endTokenIds tokens that may end a complete text
   * @param count number of sequences that will follow the grammar
   * @throws ChorusError invalid_value or unsupported_parameter for a grammar that is invalid, unsupported or takes too long
   */
  async matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]> {
    const { param } = source;
    const { maskMs } = this.#limits;
    const { program } = await this.#compiledOf(source);
    const { vocabSize } = this.#vocabulary();
    const made = Array.from({ length: count }, () => {
      const grammar = { id: ++this.#numMatchers, program, endTokenIds, vocabSize, maskMs };
      return new ThreadMatcher(grammar, () => this.#followingThread());
    });
    try {
      if ((await Promise.all(made.map((one) => one.next()))).every(Boolean)) return made;
      throw new ChorusError("invalid_value", `${param} allows no text that this model's tokens could write.`, param);
    } catch (error) {
      for (const one of made) one.dispose();
      throw error instanceof TookTooLong ? tookTooLong(param, maskMs, "to find its first tokens") : error;
    }
  }

  /** Returns what is left out of a lenient schema, which has matchers. */
  async warnings(source: GrammarSource): Promise<readonly AnswerWarning[]> {
    return (await this.#compiledOf(source)).warnings;
  }

  /** Ends all threads. None of the matchers may be used afterwards. */
  dispose(): void {
    this.#isDisposed = true;
    this.#known.clear();
    for (const thread of [...this.#slow, this.#compiling, this.#following?.thread]) thread?.end(disposed());
  }

  #compiledOf(source: GrammarSource): Promise<CompiledGrammar> {
    const key = JSON.stringify(source);
    const known = this.#known.get(key) ?? { compiled: this.#compile(source), size: key.length };
    if (!this.#known.delete(key)) {
      known.compiled.then(
        ({ program }) => {
          known.size += program.length;
          this.#forgetOld();
        },
        () => this.#known.get(key) === known && this.#known.delete(key),
      );
    }
    this.#known.set(key, known);
    return known.compiled;
  }

  #forgetOld(): void {
    let size = 0;
    for (const [key, one] of [...this.#known].toReversed()) {
      size += one.size;
      if (size > this.#limits.maxKept) this.#known.delete(key);
    }
  }

  async #compile(source: GrammarSource): Promise<CompiledGrammar> {
    const { compileMs, patienceMs } = this.#limits;
    for (;;) {
      try {
        const compiled = await this.#compilingThread().ask({ type: "compile", source }, compileMs, patienceMs);
        return compiled as CompiledGrammar;
      } catch (error) {
        if (error instanceof TookTooLong) throw tookTooLong(source.param, compileMs, "to compile");
        // It was ended because of another grammar, or with the page that started it.
        if (!(error instanceof ThreadEnded)) throw error;
      }
    }
  }

  #compilingThread(): GrammarThread {
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

const grammarPortInPlace = (): GrammarPort =>
  portInPlace(async () => {
    const service = new (await import("./grammar-service.ts")).GrammarService();
    return (call: GrammarCall) => service.answer(call);
  });

function tookTooLong(param: string, ms: number, toDo: string): ChorusError {
  const message = `${param} takes longer than ${ms / 1000} s ${toDo}; make it smaller or simpler.`;
  return new ChorusError("invalid_value", message, param);
}

const disposed = () => new ChorusError("engine_disposed", "The engine was disposed of.");
