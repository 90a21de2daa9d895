// The entry of a thread that compiles grammars and computes masks.

import { serveThread } from "../threads/serve-thread.ts";
import { GrammarCompiler } from "./grammar-compiler.ts";
import { GrammarService, type GrammarCall } from "./grammar-service.ts";

const service = new GrammarService((vocabulary) => new GrammarCompiler(() => vocabulary));

serveThread((call: GrammarCall) => service.answer(call));
