import { GrammarCompiler, type Grammars, type GrammarVocabulary } from "./grammar-compiler.ts";
import type { GrammarPort } from "./grammar-service.ts";
import { IsolatedGrammars } from "./isolated-grammars.ts";

/** Compiles grammars in threads of their own if there are any, else in this thread. */
export function openGrammars(vocabulary: () => GrammarVocabulary, openThread: (() => GrammarPort) | null): Grammars {
  return openThread === null ? new GrammarCompiler(vocabulary) : new IsolatedGrammars(vocabulary, openThread);
}
