import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { AnswerWarning } from "../protocol/openai.ts";
import { compile, type CompiledGrammar } from "./compile.ts";
import type { GrammarSource } from "./grammar-source.ts";
import { MachineMatcher } from "./machine-matcher.ts";
import { TokenTrie } from "./token-trie.ts";

export interface GrammarVocabulary {
  /** Size of the model's embedding. Ids beyond the tokenizer's are never drawn under a grammar. */
  readonly vocabSize: number;
  /** Each token's bytes, a character for each; "" for tokens without text. */
  readonly tokens: readonly string[];
}

/** A matcher, and what its grammar leaves out. */
export interface WarningMatcher extends GrammarMatcher {
  readonly warnings: readonly AnswerWarning[];
}

/** Makes the matchers of requests, wherever they are compiled. */
export interface Grammars {
  /**
   * @param endTokenIds tokens that may end a complete text
   * @param count number of sequences that will follow the grammar
   * @throws ChorusError invalid_value or unsupported_parameter for a grammar that is invalid, unsupported or takes too long
   */
  matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<WarningMatcher[]>;
  /** Ends the threads of all matchers. None may be used afterwards. */
  dispose(): void;
}

/** Number of compiled grammars to keep. */
const MAX_COMPILED = 16;

/** Compiles grammars, and keeps the most recently used ones. */
export class GrammarCompiler implements Grammars {
  readonly #vocabulary: () => GrammarVocabulary;
  readonly #compiled = new Map<string, CompiledGrammar>();
  #trie: TokenTrie | null = null;

  constructor(vocabulary: () => GrammarVocabulary) {
    this.#vocabulary = vocabulary;
  }

  async matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<WarningMatcher[]> {
    const { machine, warnings } = this.#compiledOf(source);
    const trie = this.load();
    const made = Array.from({ length: count }, () => new MachineMatcher(machine, trie, endTokenIds, warnings));
    const areReady = await Promise.all(made.map((matcher) => matcher.prepareMask()));
    if (areReady.every(Boolean)) return made;
    const message = `${source.param} allows no text that this model's tokens could write.`;
    throw new ChorusError("invalid_value", message, source.param);
  }

  /** Makes the vocabulary's tree, which takes a moment. */
  load(): TokenTrie {
    if (this.#trie === null) {
      const { tokens, vocabSize } = this.#vocabulary();
      this.#trie = new TokenTrie(tokens, vocabSize);
    }
    return this.#trie;
  }

  dispose(): void {
    this.#compiled.clear();
  }

  #compiledOf(source: GrammarSource): CompiledGrammar {
    const key = JSON.stringify(source);
    const compiled = this.#compiled.get(key) ?? compile(source);
    this.#compiled.delete(key);
    this.#compiled.set(key, compiled);
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size > MAX_COMPILED && oldest !== undefined) this.#compiled.delete(oldest);
    return compiled;
  }
}
