import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { compile } from "./compile.ts";
import type { GrammarSource } from "./grammar-source.ts";
import type { CompiledProgram, GrammarHome, GrammarVocabulary } from "./grammar-home.ts";
import { Machine } from "./machine.ts";
import { MachineMatcher } from "./machine-matcher.ts";
import type { Program } from "./program.ts";
import { TokenTrie } from "./token-trie.ts";

/** Number of machines to keep. */
const MAX_MACHINES = 16;

/** @throws ChorusError */
export function programOf(source: GrammarSource): CompiledProgram {
  const { machine, warnings } = compile(source);
  return { program: JSON.stringify(machine.program), warnings };
}

/** Compiles grammars and follows them in this thread, and keeps the most recently used machines. */
export class GrammarCompiler implements GrammarHome {
  readonly #vocabulary: () => GrammarVocabulary;
  /** By their programs. */
  readonly #machines = new Map<string, Machine>();
  #trie: TokenTrie | null = null;

  constructor(vocabulary: () => GrammarVocabulary) {
    this.#vocabulary = vocabulary;
  }

  // eslint-disable-next-line typescript/require-await -- a promise also of its errors
  async compile(source: GrammarSource): Promise<CompiledProgram> {
    return programOf(source);
  }

  async follow(program: string, endTokenIds: readonly number[]): Promise<GrammarMatcher | null> {
    const matcher = this.open(program, endTokenIds);
    return (await matcher.prepareMask()) ? matcher : null;
  }

  open(program: string, endTokenIds: readonly number[]): MachineMatcher {
    const machine = this.#machines.get(program) ?? new Machine(JSON.parse(program) as Program);
    this.#machines.delete(program);
    this.#machines.set(program, machine);
    const [oldest = program] = this.#machines.keys();
    if (this.#machines.size > MAX_MACHINES) this.#machines.delete(oldest);
    return new MachineMatcher(machine, this.load(), endTokenIds);
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
    this.#machines.clear();
  }
}
