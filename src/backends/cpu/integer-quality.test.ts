// What activations in integers of 8 bits cost: bits per byte of the embedded model, and how often its likeliest token changes.

import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { createEngine } from "../../index.ts";
import { allowRelaxedSimd } from "../../../tests/cpu/cpu.ts";

allowRelaxedSimd();

const FILES = ["config.json", "generation_config.json", "tokenizer.json", "model.safetensors"];
const model = FILES.map((name) => new File([readFileSync(`public/models/chorus-chat/${name}`)], name));
const TEXT = readFileSync("docs/how-it-works.md", "utf8").slice(0, 1200);
const TOKENS_AT_ONCE = 400;

async function score(dtype: "q8" | "q4", activationDtype: "f32" | "int8") {
  const engine = await createEngine({ model, worker: false, backend: "cpu", cpuThreads: 1, dtype, activationDtype });
  expect(engine.model.activationDtype).toBe(activationDtype);
  const { tokens } = await engine.tokenize({ prompt: TEXT });
  let logprob = 0;
  const likeliest: unknown[] = [];
  for (let from = 0; from < tokens.length; from += TOKENS_AT_ONCE) {
    const prompt = tokens.slice(from, from + TOKENS_AT_ONCE);
    const { choices } = await engine.completions.create({ prompt, max_tokens: 1, prompt_logprobs: 1 });
    for (const [i, ranked] of (choices[0]?.prompt_logprobs ?? []).entries()) {
      if (ranked === null) continue;
      const entries = Object.entries(ranked);
      likeliest.push(entries.find(([, { rank }]) => rank === 1)?.[0]);
      logprob += entries.find(([id]) => Number(id) === prompt[i])?.[1].logprob ?? 0;
    }
  }
  await engine.dispose();
  return { bits: -logprob / Math.LN2 / TEXT.length, likeliest };
}

it.each(["q8", "q4"] as const)("costs at most 0.5% more bits per byte: %s", async (dtype) => {
  const [plain, integers] = [await score(dtype, "f32"), await score(dtype, "int8")];
  const same = plain.likeliest.filter((token, i) => token === integers.likeliest[i]).length / plain.likeliest.length;
  expect(integers.bits).toBeLessThan(1.005 * plain.bits);
  expect(same).toBeGreaterThan(0.95);
});
