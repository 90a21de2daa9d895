// The entry of a thread that compiles grammars or computes masks.

import { serveThread } from "../threads/serve-thread.ts";
import type { GrammarCall } from "./grammar-calls.ts";
import { GrammarService } from "./grammar-service.ts";

const service = new GrammarService();

serveThread((call: GrammarCall) => service.answer(call));
