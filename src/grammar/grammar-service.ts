import type { LimitedPort, LimitedThread } from "../threads/limited-thread.ts";
import { GrammarCompiler, programOf } from "./grammar-compiler.ts";
import type { GrammarSource } from "./grammar-source.ts";
import type { CompiledProgram, GrammarVocabulary } from "./grammar-home.ts";
import type { MachineMatcher } from "./machine-matcher.ts";

/** The calls of a thread that compiles grammars, or follows them. */
export type GrammarCall =
  /** Answers the grammar's program. */
  | { readonly type: "compile"; readonly source: GrammarSource }
  /** Comes before the calls below. */
  | { readonly type: "start"; readonly vocabulary: GrammarVocabulary }
  | { readonly type: "open"; readonly id: number; readonly program: string; readonly endTokenIds: readonly number[] }
  /** Takes tokens, and answers the mask of the next one: false if there is none, LATER if more must be done. */
  | { readonly type: "next"; readonly id: number; readonly accepted: readonly number[] }
  | { readonly type: "close"; readonly id: number };

export const LATER = "later";
/** How long a mask is made, at most, before others have their turn. */
export const TURN_MS = 10;

export type GrammarAnswer = CompiledProgram | typeof LATER | Uint32Array | boolean;
export type GrammarPort = LimitedPort<GrammarCall, GrammarAnswer>;
export type GrammarThread = LimitedThread<GrammarCall, GrammarAnswer>;

interface Followed {
  readonly matcher: MachineMatcher;
  /** A mask that isn't made yet. */
  making: Iterator<void, boolean> | null;
}

/** The thread's side: plain data in, plain data out. */
export class GrammarService {
  readonly #compilerOf: (vocabulary: GrammarVocabulary) => GrammarCompiler;
  readonly #turnMs: number;
  readonly #followed = new Map<number, Followed>();
  #compiler: GrammarCompiler | null = null;

  constructor(compilerOf = (vocabulary: GrammarVocabulary) => new GrammarCompiler(() => vocabulary), turnMs = TURN_MS) {
    this.#compilerOf = compilerOf;
    this.#turnMs = turnMs;
  }

  /** Answers one call after the other. */
  answer(call: GrammarCall): GrammarAnswer {
    switch (call.type) {
      case "compile":
        return programOf(call.source);
      case "start":
        this.#compiler = this.#compilerOf(call.vocabulary);
        this.#compiler.load();
        return true;
      case "open": {
        const matcher = this.#compiler?.open(call.program, call.endTokenIds);
        if (matcher) this.#followed.set(call.id, { matcher, making: null });
        return true;
      }
      case "next":
        return this.#next(this.#followed.get(call.id), call.accepted);
      case "close":
        return this.#followed.delete(call.id);
    }
  }

  #next(followed: Followed | undefined, accepted: readonly number[]): GrammarAnswer {
    if (!followed || !accepted.every((id) => followed.matcher.accept(id))) return false;
    const { matcher } = followed;
    const making = (followed.making ??= matcher.making());
    const untilMs = performance.now() + this.#turnMs;
    for (let next = making.next(); ; next = making.next()) {
      if (next.done) {
        followed.making = null;
        return next.value && matcher.mask.slice();
      }
      if (performance.now() >= untilMs) return LATER;
    }
  }
}
