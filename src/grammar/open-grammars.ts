import { GrammarCompiler, type Grammars, type GrammarVocabulary } from "./grammar-compiler.ts";
import type { GrammarPort } from "./grammar-service.ts";
import { IsolatedGrammars } from "./isolated-grammars.ts";

/** Compiles in threads of their own where there are any, else in place. */
export function openGrammars(vocabulary: () => GrammarVocabulary, openThread: (() => GrammarPort) | null): Grammars {
  return openThread === null ? new GrammarCompiler(vocabulary) : new IsolatedGrammars(vocabulary, openThread);
}
