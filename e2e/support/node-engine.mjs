// A program of its own in plain Node: opens the built library on Dawn and writes what it answers, as JSON.
// node node-engine.mjs DAWN_MODULE, in the repository's root

import { readFileSync } from "node:fs";

// A URL, since types are checked before anything is built.
/** @type {typeof import("../../src/index.ts")} */
const { createEngine } = await import(new URL("../../dist/lib/chorus.js", import.meta.url).href);

/** @typedef {{ ids: number[], greedy: { tokens: number[] } }} Prompt */

const { create } = await import(process.argv[2] ?? "webgpu");
/** @type {Prompt[]} */
const prompts = JSON.parse(readFileSync("tests/fixtures/gpt2-tiny/golden.json", "utf8")).prompts;
const model = ["config.json", "tokenizer.json", "model.safetensors"].map(
  (name) => new File([readFileSync(`tests/fixtures/gpt2-tiny/${name}`)], name),
);
const engine = await createEngine({
  backend: "webgpu",
  model,
  worker: false,
  gpu: create([]),
  dtype: "f32",
  kvCacheDtype: "f32",
});

const answer = async (/** @type {Prompt} */ { ids, greedy }) => {
  const { choices } = await engine.completions.create({
    prompt: ids,
    temperature: 0,
    max_tokens: greedy.tokens.length,
    ignore_eos: true,
    return_token_ids: true,
    logprobs: 0,
  });
  return { tokens: choices[0]?.token_ids, logprobs: choices[0]?.logprobs?.token_logprobs };
};

const together = await Promise.all(prompts.map(answer));
const alone = [];
for (const prompt of prompts) alone.push(await answer(prompt));
const stats = await engine.stats();
const { adapter } = engine.model;
await engine.dispose();
const expected = prompts.map(({ greedy }) => greedy.tokens);
process.stdout.write(JSON.stringify({ adapter, expected, together, alone, stats }), () => process.exit());
