import type { LimitedPort } from "../threads/limited-thread.ts";
import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import type { GrammarSource } from "./grammar-source.ts";
import type { GrammarCompiler, GrammarVocabulary } from "./grammar-compiler.ts";

/** The calls of a grammar thread. */
export type GrammarCall =
  /** The first call. */
  | { readonly type: "start"; readonly vocabulary: GrammarVocabulary }
  /** Makes a matcher that has taken these tokens already. */
  | {
      readonly type: "open";
      readonly id: number;
      readonly source: GrammarSource;
      readonly endTokenIds: readonly number[];
      readonly accepted: readonly number[];
    }
  | { readonly type: "next"; readonly id: number; readonly accepted: readonly number[] }
  | { readonly type: "close"; readonly id: number };

/** Answers are the mask of the allowed next tokens; null if there are none, or if the call has no mask. */
export type GrammarPort = LimitedPort<GrammarCall, Uint32Array | null>;

/** The thread's side: plain data in, plain data out. */
export class GrammarService {
  readonly #open: (vocabulary: GrammarVocabulary) => GrammarCompiler;
  readonly #matchers = new Map<number, GrammarMatcher>();
  #compiler: GrammarCompiler | null = null;

  constructor(open: (vocabulary: GrammarVocabulary) => GrammarCompiler) {
    this.#open = open;
  }

  /** Answers one call after the other. */
  async answer(call: GrammarCall): Promise<Uint32Array | null> {
    if (call.type === "start") {
      this.#compiler = this.#open(call.vocabulary);
      this.#compiler.load();
      return null;
    }
    if (call.type === "close") {
      this.#matchers.get(call.id)?.dispose();
      this.#matchers.delete(call.id);
      return null;
    }
    if (call.type === "open") {
      const [made] = (await this.#compiler?.matchers(call.source, call.endTokenIds, 1)) ?? [];
      if (made) this.#matchers.set(call.id, made);
    }
    const matcher = this.#matchers.get(call.id);
    if (matcher === undefined || !call.accepted.every((token) => matcher.accept(token))) return null;
    return (await matcher.prepareMask()) ? matcher.mask.slice() : null;
  }
}
