import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import type { AnswerWarning } from "../protocol/openai.ts";
import type { GrammarSource } from "./grammar-source.ts";

export interface GrammarVocabulary {
  /** Size of the model's embedding. Ids beyond the tokenizer's are never drawn under a grammar. */
  readonly vocabSize: number;
  /** Each token's bytes, a character for each; "" for tokens without text. */
  readonly tokens: readonly string[];
}

export interface CompiledProgram {
  /** As text, which passes through the engine's thread fast. */
  readonly program: string;
  /** What is left out of a lenient schema. */
  readonly warnings: readonly AnswerWarning[];
}

/** Where grammars are compiled and followed. */
export interface GrammarHome {
  /** @throws ChorusError invalid_value or unsupported_parameter, as matchers does */
  compile(source: GrammarSource): Promise<CompiledProgram>;
  /** Returns a matcher with its first mask; null if no token may come. @param param the grammar's field, for errors */
  follow(program: string, endTokenIds: readonly number[], param: string): Promise<GrammarMatcher | null>;
  /** Ends all threads. */
  dispose(): void;
}
