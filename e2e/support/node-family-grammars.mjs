// A program of its own in plain Node: each family's answers that follow grammars, one by one and then together, with drafts.

import { readFileSync } from "node:fs";

// A URL, since types are checked before anything is built.
/** @type {typeof import("../../src/index.ts")} */
const { createEngine } = await import(new URL("../../dist/lib/chorus.js", import.meta.url).href);

const NAMES = ["config.json", "tokenizer.json", "model.safetensors"];
const REQUESTS = [
  { structured_outputs: { regex: "[a-e]{6}" }, temperature: 1, seed: 1 },
  { structured_outputs: { json: { type: "array", items: { type: "boolean" }, minItems: 2, maxItems: 2 } }, seed: 2 },
  { seed: 3 },
].map((rest) => ({ ...rest, prompt: [3, 5, 8, 13, 21, 34], max_tokens: 24, logprobs: 0, return_token_ids: true }));

const found = [];
for (const family of process.argv.slice(2)) {
  const read = (/** @type {string} */ name) => new File([readFileSync(`tests/fixtures/${family}/${name}`)], name);
  /** @type {import("../../src/index.ts").EngineConfig["speculation"]} */
  const speculation = { method: "ngram", num_speculative_tokens: 2, minMatch: 1 };
  const on = /** @type {const} */ ({ worker: false, backend: "cpu", cpuThreads: 1 });
  const engine = await createEngine({ ...on, model: NAMES.map(read), speculation });
  const answer = async (/** @type {typeof REQUESTS[number]} */ request) =>
    (await engine.completions.create(request)).choices[0];
  await engine.update({ speculation: null });
  const alone = [];
  for (const request of REQUESTS) alone.push(await answer(request));
  await engine.update({ speculation });
  const together = await Promise.all(REQUESTS.map(answer));
  await engine.dispose();
  found.push({ family, alone, together });
}
process.stdout.write(JSON.stringify(found));
