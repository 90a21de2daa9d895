// Ten lines of plain Node: a model of this folder answers on the CPU.

import { readFileSync } from "node:fs";
import { createEngine } from "../../dist/lib/chorus.js";

const names = ["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "model.safetensors"];
const model = names.map((name) => new File([readFileSync(`dist/models/chorus-chat/${name}`)], name));
const cpuThreads = Number(process.argv[2]);
const engine = await createEngine({ model, worker: false, backend: "cpu", cpuThreads });
const messages = [{ role: /** @type {const} */ ("user"), content: "What is the capital of France?" }];
const { choices } = await engine.chat.completions.create({ messages, temperature: 0, logprobs: true });
console.log(JSON.stringify({ adapter: engine.model.adapter, choice: choices[0] }));
await engine.dispose();
