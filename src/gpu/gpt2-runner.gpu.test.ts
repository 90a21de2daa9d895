import { describe, expect, it } from "vitest";

import { resolveEngineConfig } from "../api/engine-config.ts";
import type { LogitRules } from "../engine/logit-rules.ts";
import { Sequence } from "../engine/sequence.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { GREEDY, loadGolden, type Golden } from "../testing/golden.ts";
import { expectClose, openTestDevice, readBuffer } from "../testing/gpu.ts";
import { Gpt2Runner } from "./gpt2-runner.ts";

const opened = await openTestDevice();

const numGpuBlocks = 64;

async function createRunner(golden: Golden, overrides: EngineConfig = {}): Promise<Gpt2Runner> {
  const config = { maxNumSeqs: 4, maxNumBatchedTokens: 256, numGpuBlocks, dtype: "f32", kvCacheDtype: "f32" } as const;
  const engine = resolveEngineConfig({ ...config, ...overrides }, golden.weights.config);
  return Gpt2Runner.create({ opened, weights: golden.weights, engine });
}

/** A sequence that holds a slot and blocks enough for its whole length, scattered over the pool. */
function placedSequence(
  prompt: readonly number[],
  slot: number,
  length: number,
  rules: Partial<LogitRules> = {},
): Sequence {
  const params = { ...GREEDY, ...rules };
  const sequence = new Sequence({ requestId: `s${slot}`, index: 0, params, prompt, arrivalMs: 0 });
  sequence.slot = slot;
  sequence.blockTable = Array.from({ length: Math.ceil(length / 16) }, (_, i) => numGpuBlocks - 1 - 4 * i - slot);
  return sequence;
}

async function greedy(
  runner: Gpt2Runner,
  prompt: readonly number[],
  numTokens: number,
  rules: Partial<LogitRules> = {},
): Promise<number[]> {
  const sequence = placedSequence(prompt, 1, prompt.length + numTokens, rules);
  for (let i = 0; i < numTokens; i++) {
    const start = sequence.numComputedTokens;
    const count = sequence.tokens.length - start;
    const { tokens } = await runner.submit([{ sequence, start, count, samples: true, cachedTokens: 0 }]);
    sequence.numComputedTokens = sequence.tokens.length;
    sequence.tokens.push(tokens[0]?.tokenId ?? -1);
  }
  return sequence.tokens.slice(prompt.length);
}

async function lastLogits(runner: Gpt2Runner, prompt: readonly number[], vocabSize: number): Promise<Float32Array> {
  const sequence = placedSequence(prompt, 0, prompt.length);
  await runner.submit([{ sequence, start: 0, count: prompt.length, samples: true, cachedTokens: 0 }]);
  return new Float32Array(await readBuffer(opened.device, runner.activations.logits)).subarray(0, vocabSize);
}

describe.each(["model.safetensors", "model.legacy-buffers.safetensors", "model.hub-noprefix.safetensors"])(
  "gpt2-tiny, %s",
  async (checkpoint) => {
    const golden = await loadGolden("gpt2-tiny", checkpoint);
    const runner = await createRunner(golden);

    it.each(golden.prompts)("has Hugging Face's logits at the last position of $name", async ({ ids, last_logits }) => {
      expectClose(await lastLogits(runner, ids, 512), golden.tensor(last_logits), 2e-4);
    });

    it.each(golden.prompts)("has Hugging Face's greedy tokens after $name", async ({ ids, greedy: { tokens } }) => {
      expect(await greedy(runner, ids, tokens.length)).toEqual(tokens);
    });
  },
);

describe("gpt2-tiny under rules", async () => {
  const golden = await loadGolden("gpt2-tiny");
  const runner = await createRunner(golden);

  it.each(golden.prompts)("has Hugging Face's greedy tokens after $name", async (prompt) => {
    const runs = [
      [{ repetitionPenalty: 1.3 }, prompt["greedy_repetition_penalty_1.3"]],
      [{ noRepeatNgramSize: 3 }, prompt.greedy_no_repeat_ngram_3],
      [{ repetitionPenalty: 1.3, noRepeatNgramSize: 3 }, prompt["greedy_repetition_penalty_1.3_no_repeat_ngram_3"]],
    ] as const;
    for (const [rules, run] of runs) {
      if (!run) throw new Error(`no run under ${Object.keys(rules).join()} in the fixture`);
      expect(await greedy(runner, prompt.ids, run.tokens.length, rules)).toEqual(run.tokens);
    }
  });

  it("tells the most likely tokens to those who ask, beside those who don't", async () => {
    const [prompt] = golden.prompts;
    if (!prompt) throw new Error("no prompt in the fixture");
    const logits = golden.tensor(prompt.last_logits);
    const order = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));
    const entries = [0, 3].map((topLogprobs, slot) => {
      const sequence = placedSequence(prompt.ids, slot, prompt.ids.length, {});
      const asking = new Sequence({ ...sequence, params: { ...GREEDY, topLogprobs }, prompt: prompt.ids });
      asking.slot = slot;
      asking.blockTable = sequence.blockTable;
      return { sequence: asking, start: 0, count: prompt.ids.length, samples: true, cachedTokens: 0 };
    });
    const [silent, telling] = (await runner.submit(entries)).tokens;
    expect(silent?.top).toEqual([]);
    expect(telling?.top?.map(({ tokenId }) => tokenId)).toEqual(order.slice(0, 3));
    expect(telling?.top?.[0]?.logprob).toBeCloseTo(telling?.logprob ?? NaN, 5);
  });
});

describe("gpt2-tiny at its limits", async () => {
  const golden = await loadGolden("gpt2-tiny");

  it("fills its whole context in one step", async () => {
    const full = golden.context_full;
    if (!full) throw new Error("no context_full in the fixture");
    const runner = await createRunner(golden);
    expectClose(await lastLogits(runner, full.ids, 512), golden.tensor(full.last_logits), 2e-4);
  });
});

describe("gpt2-mid in f16", async () => {
  const golden = await loadGolden("gpt2-mid");
  const runner = await createRunner(golden, { dtype: "f16" });

  it.each(golden.prompts)("has Hugging Face's logits at the last position of $name", async ({ ids, last_logits }) => {
    expectClose(await lastLogits(runner, ids, 2048), golden.tensor(last_logits), 5e-4);
  });

  it.each(golden.prompts)("has Hugging Face's greedy tokens after $name", async ({ ids, greedy: { tokens } }) => {
    expect(await greedy(runner, ids, tokens.length)).toEqual(tokens);
  });
});
