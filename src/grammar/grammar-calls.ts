// The calls of a thread that compiles grammars or follows them, and its answers: plain data.

import type { AnswerWarning } from "../protocol/openai.ts";
import type { LimitedPort, LimitedThread } from "../threads/limited-thread.ts";
import type { GrammarSource } from "./grammar-source.ts";

export interface GrammarVocabulary {
  /** Size of the model's embedding. Ids beyond the tokenizer's are never drawn under a grammar. */
  readonly vocabSize: number;
  /** Each token's bytes, a character for each; "" for tokens without text. */
  readonly tokens: readonly string[];
}

export interface CompiledGrammar {
  /** As text, which passes through the engine's thread fast. */
  readonly program: string;
  /** What is left out of a lenient schema. */
  readonly warnings: readonly AnswerWarning[];
}

export type GrammarCall =
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

export type GrammarAnswer = CompiledGrammar | typeof LATER | Uint32Array | boolean;
export type GrammarPort = LimitedPort<GrammarCall, GrammarAnswer>;
export type GrammarThread = LimitedThread<GrammarCall, GrammarAnswer>;
