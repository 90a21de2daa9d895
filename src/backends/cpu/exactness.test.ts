// Whatever happens around a request, it gets the same tokens and log-probabilities, to the last bit: alone = batched =
// chunked = preempted = prefix-hit = run-ahead = speculative, however its weights are kept.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

import { createEngine } from "../../index.ts";
import { allowRelaxedSimd } from "../../../tests/cpu/cpu.ts";
import {
  answersAlone,
  answersUnder,
  CIRCUMSTANCES,
  FEW_AT_ONCE,
  WITH_DRAFTS,
  WITH_EVERY_RULE,
  type Circumstance,
} from "../../../tests/requests/exactness.ts";

allowRelaxedSimd();

const FILES = ["config.json", "tokenizer.json", "model.safetensors"].map((name) => `gpt2-tiny/${name}`);
const PACKED = ["gguf/llama-mix/llama-mix.gguf"];

const SETTINGS = [
  { dtype: "f32", kvCacheDtype: "f32", cpuMath: "fastest" },
  { dtype: "f32", kvCacheDtype: "f16", cpuMath: "portable" },
  { dtype: "f16", kvCacheDtype: "f16", cpuMath: "fastest" },
  { dtype: "q8", activationDtype: "f32", kvCacheDtype: "f16", cpuMath: "fastest" },
  { dtype: "q4", activationDtype: "f32", kvCacheDtype: "f32", cpuMath: "fastest" },
  { dtype: "q8", activationDtype: "int8", kvCacheDtype: "f32", cpuMath: "portable" },
  { dtype: "q4", activationDtype: "int8", kvCacheDtype: "f16", cpuMath: "fastest" },
  { dtype: "stored", activationDtype: "f32", kvCacheDtype: "f32", cpuMath: "portable" },
  { dtype: "stored", activationDtype: "int8", kvCacheDtype: "f32", cpuMath: "portable" },
] as const;

/** Batched, in chunks, ahead, found in the prefix cache, preempted, and with drafts that are sometimes right. */
const ALL: Circumstance = {
  name: `${FEW_AT_ONCE.name}, ${WITH_DRAFTS.name}`,
  config: { ...WITH_DRAFTS.config, ...FEW_AT_ONCE.config, enablePrefixCaching: true },
  happened: (stats) => FEW_AT_ONCE.happened(stats) && WITH_DRAFTS.happened(stats),
};

/** Each circumstance by itself with one setting. What else could depend on how numbers are kept is found with all at once. */
const CASES = SETTINGS.map((settings, i) => {
  const isFirst = i === 0;
  return { settings, circumstances: isFirst ? CIRCUMSTANCES : [ALL], count: isFirst ? undefined : WITH_EVERY_RULE };
});

describe.each(CASES)("in $settings", async ({ settings, circumstances, count }) => {
  const model = (settings.dtype === "stored" ? PACKED : FILES).map(
    (path) => new File([readFileSync(`tests/fixtures/${path}`)], path.slice(path.lastIndexOf("/") + 1)),
  );
  const base = { model, worker: false, backend: "cpu", cpuThreads: 1, ...settings } as const;
  const alone = await answersAlone(createEngine, base, count);

  it.each(circumstances)("a request is what it is alone: $name", async (circumstance) => {
    // Twice at least where there is a cache: the second time it knows what there is to know.
    const minRounds = circumstance.config.enablePrefixCaching === false ? 1 : 2;
    const { rounds, hasHappened, stats } = await answersUnder(createEngine, base, circumstance, minRounds, count);
    for (const answers of rounds) expect(answers).toEqual(alone);
    expect(hasHappened, JSON.stringify(stats)).toBe(true);
    expect(stats.num_gpu_blocks_free).toBe(stats.num_gpu_blocks);
  });
});
