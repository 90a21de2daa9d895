import type { LimitedPort } from "../threads/limited-thread.ts";
import type { AnswerWarning } from "../protocol/openai.ts";
import type { GrammarSource } from "./grammar-source.ts";
import type { GrammarCompiler, GrammarVocabulary, WarningMatcher } from "./grammar-compiler.ts";

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

export interface GrammarAnswer {
  /** Of the allowed next tokens; null if there are none, or if the call has no mask. */
  readonly mask: Uint32Array | null;
  /** Of a call that opens: what the grammar leaves out. */
  readonly warnings?: readonly AnswerWarning[];
}

export type GrammarPort = LimitedPort<GrammarCall, GrammarAnswer>;

const NO_MASK: GrammarAnswer = { mask: null };

/** The thread's side: plain data in, plain data out. */
export class GrammarService {
  readonly #open: (vocabulary: GrammarVocabulary) => GrammarCompiler;
  readonly #matchers = new Map<number, WarningMatcher>();
  #compiler: GrammarCompiler | null = null;

  constructor(open: (vocabulary: GrammarVocabulary) => GrammarCompiler) {
    this.#open = open;
  }

  /** Answers one call after the other. */
  async answer(call: GrammarCall): Promise<GrammarAnswer> {
    if (call.type === "start") {
      this.#compiler = this.#open(call.vocabulary);
      this.#compiler.load();
      return NO_MASK;
    }
    if (call.type === "close") {
      this.#matchers.get(call.id)?.dispose();
      this.#matchers.delete(call.id);
      return NO_MASK;
    }
    if (call.type === "open") {
      const [made] = (await this.#compiler?.matchers(call.source, call.endTokenIds, 1)) ?? [];
      if (made) this.#matchers.set(call.id, made);
    }
    const matcher = this.#matchers.get(call.id);
    if (matcher === undefined || !call.accepted.every((token) => matcher.accept(token))) return NO_MASK;
    const mask = (await matcher.prepareMask()) ? matcher.mask.slice() : null;
    return call.type === "open" ? { mask, warnings: matcher.warnings } : { mask };
  }
}
