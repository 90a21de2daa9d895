import { compile } from "./compile.ts";
import { TURN_MS, type GrammarAnswer, type GrammarCall, type GrammarVocabulary } from "./grammar-calls.ts";
import { Machine } from "./machine.ts";
import { MachineMatcher } from "./machine-matcher.ts";
import type { Program } from "./program.ts";
import { TokenTrie } from "./token-trie.ts";

/** Number of machines to keep, besides those that are followed. */
const MAX_MACHINES = 16;

/** The thread's side: plain data in, plain data out. */
export class GrammarService {
  readonly #trieOf: (vocabulary: GrammarVocabulary) => TokenTrie;
  readonly #turnMs: number;
  readonly #followed = new Map<number, MachineMatcher>();
  /** By their programs, the least recently used first. */
  readonly #machines = new Map<string, Machine>();
  #trie: TokenTrie | null = null;

  constructor(
    trieOf = ({ tokens, vocabSize }: GrammarVocabulary) => new TokenTrie(tokens, vocabSize),
    turnMs = TURN_MS,
  ) {
    this.#trieOf = trieOf;
    this.#turnMs = turnMs;
  }

  answer(call: GrammarCall): GrammarAnswer {
    switch (call.type) {
      case "compile": {
        const { machine, warnings } = compile(call.source);
        return { program: JSON.stringify(machine.program), warnings };
      }
      case "start":
        this.#trie = this.#trieOf(call.vocabulary);
        return true;
      case "open": {
        if (this.#trie === null) return false;
        const machine = this.#machineOf(call.program);
        this.#followed.set(call.id, new MachineMatcher(machine, this.#trie, call.endTokenIds));
        return true;
      }
      case "next":
        return this.#next(this.#followed.get(call.id), call.accepted);
      case "close":
        return this.#followed.delete(call.id);
    }
  }

  #machineOf(program: string): Machine {
    const machine = this.#machines.get(program) ?? new Machine(JSON.parse(program) as Program);
    this.#machines.delete(program);
    this.#machines.set(program, machine);
    const [oldest = program] = this.#machines.keys();
    if (this.#machines.size > MAX_MACHINES) this.#machines.delete(oldest);
    return machine;
  }

  #next(matcher: MachineMatcher | undefined, accepted: readonly number[]): GrammarAnswer {
    if (!matcher || !accepted.every((id) => matcher.accept(id))) return false;
    const isMade = matcher.makeMask(performance.now() + this.#turnMs);
    return isMade === true ? matcher.mask.slice() : isMade;
  }
}
