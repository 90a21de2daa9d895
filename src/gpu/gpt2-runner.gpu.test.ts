import { describe, expect, it } from "vitest";

import { Sequence } from "../engine/sequence.ts";
import { GREEDY, loadGolden } from "../testing/golden.ts";
import { createRunner, greedyTokens, lastLogits, placedSequence } from "../testing/gpt2-runs.ts";
import { expectClose, openTestDevice } from "../testing/gpu.ts";

const opened = await openTestDevice();

describe.each(["model.safetensors", "model.legacy-buffers.safetensors", "model.hub-noprefix.safetensors"])(
  "gpt2-tiny, %s",
  async (checkpoint) => {
    const golden = await loadGolden("gpt2-tiny", checkpoint);
    const runner = await createRunner(opened, golden.weights);

    it.each(golden.prompts)("has Hugging Face's logits at the last position of $name", async ({ ids, last_logits }) => {
      expectClose(await lastLogits(opened, runner, ids, 512), golden.tensor(last_logits), 2e-4);
    });

    it.each(golden.prompts)("has Hugging Face's greedy tokens after $name", async ({ ids, greedy: { tokens } }) => {
      expect(await greedyTokens(runner, ids, tokens.length)).toEqual(tokens);
    });
  },
);

describe("gpt2-tiny under rules", async () => {
  const golden = await loadGolden("gpt2-tiny");
  const runner = await createRunner(opened, golden.weights);

  it.each(golden.prompts)("has Hugging Face's greedy tokens after $name", async (prompt) => {
    const runs = [
      [{ repetitionPenalty: 1.3 }, prompt["greedy_repetition_penalty_1.3"]],
      [{ noRepeatNgramSize: 3 }, prompt.greedy_no_repeat_ngram_3],
      [{ repetitionPenalty: 1.3, noRepeatNgramSize: 3 }, prompt["greedy_repetition_penalty_1.3_no_repeat_ngram_3"]],
    ] as const;
    for (const [rules, run] of runs) {
      if (!run) throw new Error(`no run under ${Object.keys(rules).join()} in the fixture`);
      expect(await greedyTokens(runner, prompt.ids, run.tokens.length, rules)).toEqual(run.tokens);
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
      return { sequence: asking, start: 0, count: prompt.ids.length, samples: true, drafts: [], cachedTokens: 0 };
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
    const runner = await createRunner(opened, golden.weights);
    expectClose(await lastLogits(opened, runner, full.ids, 512), golden.tensor(full.last_logits), 2e-4);
  });
});

describe("gpt2-mid in f16", async () => {
  const golden = await loadGolden("gpt2-mid");
  const runner = await createRunner(opened, golden.weights, { dtype: "f16" });

  it.each(golden.prompts)("has Hugging Face's logits at the last position of $name", async ({ ids, last_logits }) => {
    expectClose(await lastLogits(opened, runner, ids, 2048), golden.tensor(last_logits), 5e-4);
  });

  it.each(golden.prompts)("has Hugging Face's greedy tokens after $name", async ({ ids, greedy: { tokens } }) => {
    expect(await greedyTokens(runner, ids, tokens.length)).toEqual(tokens);
  });
});
