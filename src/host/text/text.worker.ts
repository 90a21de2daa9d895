// The entry of a thread that runs templates and tokenizers.

import { serveThread } from "../../threads/serve-thread.ts";
import type { TextCall } from "./text-calls.ts";
import { TextService } from "./text-service.ts";

const service = new TextService();
serveThread((call: TextCall) => service.answer(call));
