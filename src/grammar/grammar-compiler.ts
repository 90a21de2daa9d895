import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { GrammarSource } from "./grammar-source.ts";
import { MachineMatcher } from "./machine-matcher.ts";
import { compile } from "./compile.ts";
import type { Machine } from "./machine.ts";
import { TokenTrie } from "./token-trie.ts";

export interface GrammarVocabulary {
  /** Size of the model's embedding. Ids beyond the tokenizer's are never drawn under a grammar. */
  readonly vocabSize: number;
  /** Each token's bytes, a character for each; "" for tokens without text. */
  readonly tokens: readonly string[];
}

/** Makes the matchers of requests, wherever they are compiled. */
export interface Grammars {
  /**
   * @param endTokenIds tokens that may end a complete text
   * @param count number of sequences that will follow the grammar
   * @throws ChorusError invalid_value or unsupported_parameter for a grammar that is invalid, unsupported or takes too long
   */
  matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]>;
  /** Ends the threads of all matchers. None may be used afterwards. */
  dispose(): void;
}

/** Number of compiled grammars to keep. */
const MAX_COMPILED = 16;

/** Compiles grammars, and keeps the most recently used ones. */
export class GrammarCompiler implements Grammars {
  readonly #vocabulary: () => GrammarVocabulary;
  readonly #compiled = new Map<string, Machine>();
  #trie: TokenTrie | null = null;

  constructor(vocabulary: () => GrammarVocabulary) {
    this.#vocabulary = vocabulary;
  }

  async matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]> {
    const machine = this.#machineOf(source);
    const trie = this.load();
    const made = Array.from({ length: count }, () => new MachineMatcher(machine, trie, endTokenIds));
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

  #machineOf(source: GrammarSource): Machine {
    const key = JSON.stringify(source);
    const machine = this.#compiled.get(key) ?? compile(source);
    this.#compiled.delete(key);
    this.#compiled.set(key, machine);
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size > MAX_COMPILED && oldest !== undefined) this.#compiled.delete(oldest);
    return machine;
  }
}
