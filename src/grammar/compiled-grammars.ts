import type { CompiledGrammar, GrammarCompiler } from "@mlc-ai/web-xgrammar";

/** Number of compiled grammars to keep. With a vocabulary of a hundred thousand tokens one may take megabytes. */
export const MAX_COMPILED = 16;

const OWN_ROOT = "chorus_root";

/** The most recently used grammars, by their text. Matchers don't need theirs any more once they are made. */
export class CompiledGrammars {
  readonly #compiler: Pick<GrammarCompiler, "compileGrammar">;
  readonly #kept = new Map<string, CompiledGrammar>();

  constructor(compiler: Pick<GrammarCompiler, "compileGrammar">) {
    this.#compiler = compiler;
  }

  /** Returns the compiled grammar, which is valid until the next call. */
  async get(ebnf: string): Promise<CompiledGrammar> {
    const grammar = this.#kept.get(ebnf) ?? (await this.#compile(ebnf));
    this.#kept.delete(ebnf);
    this.#kept.set(ebnf, grammar);
    const [oldest] = this.#kept;
    if (this.#kept.size > MAX_COMPILED && oldest) {
      this.#kept.delete(oldest[0]);
      oldest[1].dispose();
    }
    return grammar;
  }

  /** xgrammar takes a root's end for the text's, also where a rule refers to the root, and then forbids tokens that go on. */
  #compile(ebnf: string): Promise<CompiledGrammar> {
    const isReferredTo = ebnf.split(/\broot\b/).length > 2;
    if (!isReferredTo) return this.#compiler.compileGrammar(ebnf);
    let own = OWN_ROOT;
    while (ebnf.includes(own)) own += "_";
    return this.#compiler.compileGrammar(`${ebnf}\n${own} ::= root`, own);
  }
}
