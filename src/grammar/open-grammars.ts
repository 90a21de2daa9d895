import { GrammarCompiler, type Grammars, type GrammarVocabulary } from "./grammar-compiler.ts";
import type { GrammarPort } from "./grammar-thread.ts";
import type { GrammarAnswer } from "./grammar-service.ts";
import { IsolatedGrammars } from "./isolated-grammars.ts";

/** Compiles in threads of their own where there are workers, else in place. */
export function openGrammars(vocabulary: () => GrammarVocabulary): Grammars {
  if (globalThis.Worker === undefined) return new GrammarCompiler(vocabulary);
  return new IsolatedGrammars(vocabulary, openWorker);
}

function openWorker(): GrammarPort {
  const name = "chorus-grammars";
  const worker = new Worker(new URL("./grammar.worker.ts", import.meta.url), { type: "module", name });
  return {
    post: (call) => worker.postMessage(call),
    listen(onAnswer, onFailure) {
      worker.addEventListener("message", ({ data }: MessageEvent<GrammarAnswer>) => onAnswer(data));
      worker.addEventListener("error", ({ message }) => onFailure(message || "its worker could not be loaded"));
    },
    end: () => worker.terminate(),
  };
}
