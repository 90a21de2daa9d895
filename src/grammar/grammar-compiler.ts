import type { CompiledGrammar, GrammarCompiler as XgrammarCompiler } from "@mlc-ai/web-xgrammar";

import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ChorusError } from "../protocol/errors.ts";
import { ebnfOf } from "./ebnf-of.ts";
import type { GrammarSource } from "./ebnf-of.ts";
import { loadXgrammar, type Xgrammar } from "./load-xgrammar.ts";
import { XgrammarMatcher } from "./xgrammar-matcher.ts";

export interface GrammarVocabulary {
  /** Of the model's embedding; ids beyond the tokens' are never drawn under a grammar. */
  readonly vocabSize: number;
  /** Each token in the alphabet of byte-level BPE; "" for those that are no text. */
  readonly tokens: readonly string[];
}

/** An instance of the module, with the vocabulary in it. */
interface Instance {
  readonly xgrammar: Xgrammar;
  readonly compiler: XgrammarCompiler;
  /** What it has said last about what is wrong. */
  readonly complaint: () => string;
}

/**
 * Compiles grammars. The module is loaded when the first one comes. It ends itself where it meets something that it can't
 * deal with, a wrong grammar for one; then the next grammar gets a module of its own, while the matchers of the old one,
 * which share nothing that changes, go on.
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
   * @param endTokenIds what may end a text that is complete
   * @param count how many sequences are to follow the grammar
   * @throws ChorusError invalid_value unsupported_parameter for a grammar that is none or can't be held to, internal_error where the module can't be loaded
   */
  async matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]> {
    const ebnf = ebnfOf(source);
    const loading = (this.#instance ??= this.#open());
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
    const message = `${source.param} allows nothing that this model's tokens could write.`;
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
    // It binds console.error when it starts, to tell of what it dies of: that is for whoever sent the grammar.
    const { error } = console;
    console.error = (...words: readonly unknown[]) => {
      const line = words.map(String).join(" ");
      if (!line.startsWith("Aborted")) complaint = line.replace(/^\[FATAL\] \S+ /, "").replace(/\.$/, "");
    };
    try {
      // Behind the vocabulary, the token that stands for the end: see xgrammar-matcher.ts.
      const all = Array.from({ length: vocabSize + 1 }, (_, id) => (id < vocabSize ? (tokens[id] ?? "") : ""));
      const info = await xgrammar.TokenizerInfo.createTokenizerInfo(all, "byte_level", false, all.length, [vocabSize]);
      const compiler = await xgrammar.GrammarCompiler.createGrammarCompiler(info);
      return { xgrammar, compiler, complaint: () => complaint };
    } finally {
      console.error = error;
    }
  }
}
