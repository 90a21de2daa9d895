import { describe, expect, it } from "vitest";

import { resolveEngineConfig } from "../api/engine-config.ts";
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
function placedSequence(prompt: readonly number[], slot: number, length: number): Sequence {
  const sequence = new Sequence({ requestId: `s${slot}`, index: 0, params: GREEDY, prompt, arrivalMs: 0 });
  sequence.slot = slot;
  sequence.blockTable = Array.from({ length: Math.ceil(length / 16) }, (_, i) => numGpuBlocks - 1 - 4 * i - slot);
  return sequence;
}

async function greedy(runner: Gpt2Runner, prompt: readonly number[], numTokens: number): Promise<number[]> {
  const sequence = placedSequence(prompt, 1, prompt.length + numTokens);
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
