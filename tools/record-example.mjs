// node tools/record-example.mjs: records the run that comes with the app (after npm run build): six panes ask the embedded
// model, four at once, with a cache so small that one of them is preempted.

import { mkdirSync, openAsBlob, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "./run-command.mjs";

const MODEL = "public/models/chorus-chat";
/** When each pane asks, milliseconds after the first, and what. */
const QUESTIONS = /** @type {const} */ ([
  [0, "Tell me a story about a fox"],
  [0, "Write a poem about the sea"],
  [40, "How do I cook rice?"],
  [40, "Tell me a story about a fox and a robot"],
  [90, "What is the capital of France?"],
  [120, "Why is the sky blue?"],
]);

const { createEngine, recordRun } = await import(new URL("../dist/lib/chorus.js", import.meta.url).href);
const model = await Promise.all(
  readdirSync(join(root, MODEL)).map(async (part) => new File([await openAsBlob(join(root, MODEL, part))], part)),
);
const sizes = { maxNumSeqs: 4, numGpuBlocks: 12, maxModelLen: 128, maxNumBatchedTokens: 16 };
const engine = await createEngine({
  model,
  worker: false,
  backend: "cpu",
  cpuMath: "portable",
  cpuThreads: 1,
  ...sizes,
});
const recorder = recordRun(engine);
await Promise.all(
  QUESTIONS.map(async ([atMs, content], i) => {
    await new Promise((resolve) => setTimeout(resolve, atMs));
    const request_id = `pane-${i + 1}-turn-1-example`;
    const messages = [{ role: "user", content }];
    return engine.chat.completions.create({ messages, max_tokens: 48, seed: i, request_id });
  }),
);
// The model has its name in the app, where it is no list of files; times are whole microseconds.
const text = recorder.stop().replace('"name":"model"', '"name":"chorus-chat"');
mkdirSync(join(root, "public/recordings"), { recursive: true });
writeFileSync(join(root, "public/recordings/example.jsonl"), text.replaceAll(/(Ms":\d+\.\d{3})\d+/g, "$1"));
await engine.dispose();
