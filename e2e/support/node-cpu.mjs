// A few lines of plain Node: a model of this folder answers on the CPU.

import { readFileSync } from "node:fs";

// A URL, since types are checked before anything is built.
/** @type {typeof import("../../src/index.ts")} */
const { createEngine } = await import(new URL("../../dist/lib/chorus.js", import.meta.url).href);

const names = ["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "model.safetensors"];
const model = names.map((name) => new File([readFileSync(`dist/models/chorus-chat/${name}`)], name));
const cpuThreads = Number(process.argv[2]);
const engine = await createEngine({ model, worker: false, backend: "cpu", cpuThreads });
const messages = [{ role: /** @type {const} */ ("user"), content: "What is the capital of France?" }];
const { choices } = await engine.chat.completions.create({ messages, temperature: 0, logprobs: true });
console.log(JSON.stringify({ adapter: engine.model.adapter, choice: choices[0] }));
await engine.dispose();
