// node in-process.js [folder of a model, or owner/name of the hub]

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { createEngine } from "chorus-llm";

const [, , name = "HuggingFaceTB/SmolLM2-135M-Instruct"] = process.argv;
const filesOf = (folder) => readdirSync(folder).map((file) => new File([readFileSync(join(folder, file))], file));
const engine = await createEngine({ model: existsSync(name) ? filesOf(name) : name, worker: false });

const QUESTIONS = [
  "Tell me a story about a dog.",
  "What is the capital of France?",
  "Write a poem.",
  "Tell me a story about the sea.",
];

async function ask(question) {
  const messages = [{ role: "user", content: question }];
  const { choices } = await engine.chat.completions.create({ messages, temperature: 0, max_tokens: 64 });
  return choices[0].message.content.trim();
}

async function seconds(batchingMode) {
  await engine.update({ batchingMode });
  const beganMs = performance.now();
  await Promise.all(QUESTIONS.map(ask));
  return ((performance.now() - beganMs) / 1000).toFixed(2);
}

// The first time code is compiled and prompts are cached. Then both are timed alike.
console.log((await Promise.all(QUESTIONS.map(ask))).join("\n\n"));
const alone = await seconds("sequential");
const together = await seconds("continuous");
console.log(`Together ${together} s, one after the other ${alone} s (${engine.model.name}, ${engine.model.adapter}).`);
await engine.dispose();
