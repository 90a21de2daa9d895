import type { CompiledGrammar, GrammarCompiler as XgrammarCompiler } from "@mlc-ai/web-xgrammar";

import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ChorusError } from "../protocol/errors.ts";
import { ebnfOf } from "./ebnf-of.ts";
import type { GrammarSource } from "./ebnf-of.ts";
import { loadXgrammar, whileLocated, type Xgrammar } from "./load-xgrammar.ts";
import { XgrammarMatcher } from "./xgrammar-matcher.ts";

export interface GrammarVocabulary {
  /** Size of the model's embedding. Ids beyond the tokenizer's are never drawn under a grammar. */
  readonly vocabSize: number;
  /** Each token in byte-level BPE's alphabet; "" for tokens without text. */
  readonly tokens: readonly string[];
}

/** An instance of the module, with the vocabulary in it. */
interface Instance {
  readonly xgrammar: Xgrammar;
  readonly compiler: XgrammarCompiler;
  /** Its latest error message. */
  readonly complaint: () => string;
}

/**
 * Compiles grammars. Loads the module with the first one. The module aborts on some inputs, such as an invalid grammar. Then
 * the next grammar gets a new module. The old one's matchers go on: they share no mutable state.
 */
export class GrammarCompiler {
  readonly #vocabulary: () => GrammarVocabulary;
  readonly #load: () => Promise<Xgrammar>;
  #instance: Promise<Instance> | null = null;

  constructor(vocabulary: () => GrammarVocabulary, load: () => Promise<Xgrammar> = loadXgrammar) {
    this.#vocabulary = vocabulary;
    this.#load = load;
  }

  /**
   * @param endTokenIds tokens that may end a complete text
   * @param count number of sequences that will follow the grammar
   * @throws ChorusError invalid_value or unsupported_parameter for an invalid or unsupported grammar, internal_error if the
   *   module can't be loaded
   */
  async matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]> {
    const ebnf = ebnfOf(source);
    const loading = (this.#instance ??= whileLocated(() => this.#open()));
    let instance: Instance;
    try {
      instance = await loading;
    } catch (cause) {
      if (this.#instance === loading) this.#instance = null;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new ChorusError("internal_error", `What holds answers to a grammar can't be loaded: ${reason}`, null, {
        cause,
      });
    }
    const made: XgrammarMatcher[] = [];
    const giveUp = () => {
      if (this.#instance === loading) this.#instance = null;
    };
    try {
      const grammar = await instance.compiler.compileGrammar(ebnf);
      for (let i = 0; i < count; i++) made.push(await this.#matcher(instance, grammar, endTokenIds, giveUp));
      grammar.dispose();
    } catch (cause) {
      giveUp();
      for (const matcher of made) matcher.dispose();
      const complaint = instance.complaint();
      const reason = complaint === "" ? "it can't be compiled" : complaint;
      throw new ChorusError("invalid_value", `${source.param} is no grammar: ${reason}.`, source.param, { cause });
    }
    const [first] = made;
    if (first === undefined || (await first.prepareMask())) {
      await Promise.all(made.map((matcher) => matcher.prepareMask()));
      return made;
    }
    for (const matcher of made) matcher.dispose();
    const message = `${source.param} allows no text that this model's tokens could write.`;
    throw new ChorusError("invalid_value", message, source.param);
  }

  async #matcher(
    { xgrammar }: Instance,
    grammar: CompiledGrammar,
    endTokenIds: readonly number[],
    onCrash: () => void,
  ): Promise<XgrammarMatcher> {
    const matcher = await xgrammar.GrammarMatcher.createGrammarMatcher(grammar);
    return new XgrammarMatcher(matcher, endTokenIds, this.#vocabulary().vocabSize, onCrash);
  }

  async #open(): Promise<Instance> {
    const { vocabSize, tokens } = this.#vocabulary();
    const xgrammar = await this.#load();
    let complaint = "";
    // The module binds console.error when it starts, and prints there why it aborts. The request's error gets that message.
    const { error } = console;
    console.error = (...words: readonly unknown[]) => {
      const line = words.map(String).join(" ");
      if (!line.startsWith("Aborted")) complaint = line.replace(/^\[FATAL\] \S+ /, "").replace(/\.$/, "");
    };
    try {
      // After the vocabulary comes the token that stands for the end: see xgrammar-matcher.ts.
      const all = Array.from({ length: vocabSize + 1 }, (_, id) => (id < vocabSize ? (tokens[id] ?? "") : ""));
      const info = await xgrammar.TokenizerInfo.createTokenizerInfo(all, "byte_level", false, all.length, [vocabSize]);
      const compiler = await xgrammar.GrammarCompiler.createGrammarCompiler(info);
      return { xgrammar, compiler, complaint: () => complaint };
    } finally {
      console.error = error;
    }
  }
}
