// Whatever happens around a request, it gets the same tokens and log-probabilities, to the last bit: alone = batched =
// chunked = preempted = prefix-hit = run-ahead = speculative, however its weights are kept.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

import { createEngine } from "../../index.ts";
import { allowRelaxedSimd } from "../../../tests/cpu/cpu.ts";
import { answersAlone, answersUnder, CIRCUMSTANCES } from "../../../tests/requests/exactness.ts";

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

/** Every circumstance with f32; with the other dtypes those that between them batch, chunk, hit, preempt, draft and run ahead. */
const circumstancesFor = (dtype: string) =>
  CIRCUMSTANCES.filter(({ name }) => dtype === "f32" || /four steps ahead|prefix cache|drafts/.test(name));

describe.each(SETTINGS)("in %j", async (settings) => {
  const model = (settings.dtype === "stored" ? PACKED : FILES).map(
    (path) => new File([readFileSync(`tests/fixtures/${path}`)], path.slice(path.lastIndexOf("/") + 1)),
  );
  const base = { model, worker: false, backend: "cpu", cpuThreads: 1, ...settings } as const;
  const alone = await answersAlone(createEngine, base);

  it.each(circumstancesFor(settings.dtype))(
    "a request is what it is alone: $name",
    async (circumstance) => {
      // Twice at least: the second time the cache knows what there is to know.
      const { rounds, hasHappened, stats } = await answersUnder(createEngine, base, circumstance, 2);
      for (const answers of rounds) expect(answers).toEqual(alone);
      expect(hasHappened, JSON.stringify(stats)).toBe(true);
      expect(stats.num_gpu_blocks_free).toBe(stats.num_gpu_blocks);
    },
    30_000,
  );
});
