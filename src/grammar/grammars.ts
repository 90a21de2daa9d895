import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ChorusError } from "../protocol/errors.ts";
import { GrammarCompiler } from "./grammar-compiler.ts";
import type { AnswerWarning } from "../protocol/openai.ts";
import type { CompiledProgram, GrammarHome, GrammarVocabulary } from "./grammar-home.ts";
import type { GrammarPort } from "./grammar-service.ts";
import type { GrammarSource } from "./grammar-source.ts";
import { GrammarThreads } from "./grammar-threads.ts";

/** Most characters of programs to keep, with the sources that they are found by. */
const MAX_KEPT_CHARACTERS = 16_000_000;

/**
 * Makes the matchers of requests. Requests with the same grammar share its compilation, at once and later; a failed one is
 * forgotten.
 */
export class Grammars {
  readonly #home: GrammarHome;
  readonly #maxKept: number;
  /** By the grammar's text, the least recently used first. */
  readonly #programs = new Map<string, { readonly compiled: Promise<CompiledProgram>; size: number }>();

  constructor(home: GrammarHome, maxKept = MAX_KEPT_CHARACTERS) {
    this.#home = home;
    this.#maxKept = maxKept;
  }

  /**
   * @param endTokenIds tokens that may end a complete text
   * @param count number of sequences that will follow the grammar
   * @throws ChorusError invalid_value or unsupported_parameter for a grammar that is invalid, unsupported or takes too long
   */
  async matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]> {
    const { param } = source;
    const { program } = await this.#compiledOf(source);
    const made: GrammarMatcher[] = [];
    try {
      while (made.length < count) {
        const one = await this.#home.follow(program, endTokenIds, param);
        const message = `${param} allows no text that this model's tokens could write.`;
        if (one === null) throw new ChorusError("invalid_value", message, param);
        made.push(one);
      }
      return made;
    } catch (error) {
      for (const one of made) one.dispose();
      throw error;
    }
  }

  /** Returns what is left out of a lenient schema, which has matchers. */
  async warnings(source: GrammarSource): Promise<readonly AnswerWarning[]> {
    return (await this.#compiledOf(source)).warnings;
  }

  /** None of the matchers may be used afterwards. */
  dispose(): void {
    this.#programs.clear();
    this.#home.dispose();
  }

  #compiledOf(source: GrammarSource): Promise<CompiledProgram> {
    const key = JSON.stringify(source);
    const known = this.#programs.get(key) ?? { compiled: this.#home.compile(source), size: key.length };
    if (!this.#programs.delete(key)) {
      known.compiled.then(
        ({ program }) => {
          known.size += program.length;
          this.#forgetOld();
        },
        () => this.#programs.get(key) === known && this.#programs.delete(key),
      );
    }
    this.#programs.set(key, known);
    return known.compiled;
  }

  #forgetOld(): void {
    let size = 0;
    for (const [key, one] of [...this.#programs].toReversed()) {
      size += one.size;
      if (size > this.#maxKept) this.#programs.delete(key);
    }
  }
}

/** Compiles and follows grammars in threads of their own if there are any, else in this thread. */
export function openGrammars(vocabulary: () => GrammarVocabulary, openThread: (() => GrammarPort) | null): Grammars {
  return new Grammars(
    openThread === null ? new GrammarCompiler(vocabulary) : new GrammarThreads(vocabulary, openThread),
  );
}
