import type { CompiledGrammar } from "@mlc-ai/web-xgrammar";

import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ChorusError } from "../protocol/errors.ts";
import { requireWasm } from "../protocol/require-wasm.ts";
import { CompiledGrammars } from "./compiled-grammars.ts";
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

/** Makes the matchers of requests, wherever they are compiled. */
export interface Grammars {
  /**
   * @param endTokenIds tokens that may end a complete text
   * @param count number of sequences that will follow the grammar
   * @throws ChorusError invalid_value or unsupported_parameter for a grammar that is invalid, unsupported or takes too long,
   *   wasm_unavailable or internal_error if the module can't be loaded
   */
  matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]>;
  /** Ends the threads of all matchers. None may be used afterwards. */
  dispose(): void;
}

/** An instance of the module, with the vocabulary in it. */
interface Instance {
  readonly xgrammar: Xgrammar;
  readonly compiled: CompiledGrammars;
  /** Returns its latest error message. */
  readonly complaint: () => string;
}

/**
 * Compiles grammars, one at a time. Loads the module with the first one. The module aborts on some inputs, such as an invalid
 * grammar. Then the next grammar gets a new module. The old one's matchers go on: they share no mutable state.
 */
export class GrammarCompiler implements Grammars {
  readonly #vocabulary: () => GrammarVocabulary;
  readonly #load: () => Promise<Xgrammar>;
  #instance: Promise<Instance> | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(vocabulary: () => GrammarVocabulary, load: () => Promise<Xgrammar> = loadXgrammar) {
    this.#vocabulary = vocabulary;
    this.#load = load;
  }

  matchers(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]> {
    const made = this.#turn.then(() => this.#matchersNow(source, endTokenIds, count));
    this.#turn = made.catch(() => undefined);
    return made;
  }

  /** Loads the module. @throws ChorusError wasm_unavailable, internal_error */
  async load(): Promise<void> {
    await this.#loaded();
  }

  dispose(): void {
    this.#instance = null;
  }

  async #matchersNow(source: GrammarSource, endTokenIds: readonly number[], count: number): Promise<GrammarMatcher[]> {
    const ebnf = ebnfOf(source);
    const loading = this.#loaded();
    const instance = await loading;
    const made: XgrammarMatcher[] = [];
    const giveUp = () => {
      if (this.#instance === loading) this.#instance = null;
    };
    try {
      const grammar = await instance.compiled.get(ebnf);
      for (let i = 0; i < count; i++) made.push(await this.#matcher(instance, grammar, endTokenIds, giveUp));
    } catch (cause) {
      giveUp();
      for (const matcher of made) matcher.dispose();
      const complaint = instance.complaint();
      const reason = complaint === "" ? "it can't be compiled" : complaint;
      throw new ChorusError("invalid_value", `${source.param} is not a valid grammar: ${reason}.`, source.param, {
        cause,
      });
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

  #loaded(): Promise<Instance> {
    const loading = (this.#instance ??= whileLocated(() => this.#open()).catch((cause: unknown) => {
      if (this.#instance === loading) this.#instance = null;
      if (cause instanceof ChorusError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `The grammar library could not be loaded: ${reason}`;
      throw new ChorusError("internal_error", message, null, { cause });
    }));
    return loading;
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
    await requireWasm();
    const xgrammar = await this.#load();
    let complaint = "";
    // The module binds console.error when it starts, and prints there why it aborts. The request's error contains that message.
    const { error } = console;
    console.error = (...words: readonly unknown[]) => {
      const line = words.map(String).join(" ");
      if (!line.startsWith("Aborted")) complaint = line.replace(/^\[FATAL\] \S+ /, "").replace(/\.$/, "");
    };
    try {
      // After the vocabulary comes the token that stands for the end: see xgrammar-matcher.ts.
      const all = Array.from({ length: vocabSize + 1 }, (_, id) => (id < vocabSize ? (tokens[id] ?? "") : ""));
      const info = await xgrammar.TokenizerInfo.createTokenizerInfo(all, "byte_level", false, all.length, [vocabSize]);
      // Its own cache has no bound.
      const compiler = await xgrammar.GrammarCompiler.createGrammarCompiler(info, false);
      return { xgrammar, compiled: new CompiledGrammars(compiler), complaint: () => complaint };
    } finally {
      console.error = error;
    }
  }
}
