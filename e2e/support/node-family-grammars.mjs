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
  const speculation = { method: "ngram", num_speculative_tokens: 2, minMatch: 1 };
  const answers = async (/** @type {object} */ more, /** @type {boolean} */ isTogether) => {
    const engine = await createEngine({
      model: NAMES.map(read),
      worker: false,
      backend: "cpu",
      cpuThreads: 1,
      ...more,
    });
    const requested = [];
    for (const request of REQUESTS) {
      const answer = engine.completions.create(request).then(({ choices }) => choices[0]);
      if (!isTogether) await answer;
      requested.push(answer);
    }
    const choices = await Promise.all(requested);
    await engine.dispose();
    return choices;
  };
  found.push({ family, alone: await answers({}, false), together: await answers({ speculation }, true) });
}
process.stdout.write(JSON.stringify(found));
