import { describe, expect, it } from "vitest";

import { Sequence } from "../../engine/sequence.ts";
import { StepPlanner } from "../../engine/step-planner.ts";
import { describeModel } from "../../models/families.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { bytesToRead, withReportedReads } from "../../models/reported-reads.ts";
import { placeSequence } from "../../../tests/fakes/place-sequence.ts";
import { FAMILY_FIXTURES } from "../../../tests/models/family-fixtures.ts";
import { GREEDY, loadGolden } from "../../../tests/models/golden.ts";
import {
  DECODER_FIXTURES,
  openDecoderFixture,
  worstLogprob,
  type DecoderFixture,
} from "../../../tests/models/decoder-fixtures.ts";
import { lastLogitsReference } from "../../../tests/references/graph-reference.ts";
import { gpuKernelLogits } from "../../../tests/gpu/prepared-graph.ts";
import {
  createRunner,
  greedyTogether,
  greedyTokens,
  lastLogits,
  placedSequence,
} from "../../../tests/gpu/runner-runs.ts";
import { expectClose, openTestDevice } from "../../../tests/gpu/gpu.ts";
import { randomWeights } from "../../../tests/models/random-weights.ts";
import { storedAs } from "../../../tests/references/tensors.ts";

const opened = await openTestDevice();

describe("gpt2-tiny", async () => {
  const golden = await loadGolden("gpt2-tiny");
  const counted = countReads(golden.weights);
  const runner = await createRunner(opened, counted.weights);

  it("reads each weight once", () => expect(counted.bytes()).toBe(bytesToRead(golden.weights)));

  // The tokens that follow are held to Hugging Face's by tests/acceptance/index.gpu.test.ts.
  it.each(golden.prompts)("has Hugging Face's logits at the last position of $name", async ({ ids, last_logits }) => {
    expectClose(await lastLogits(opened, runner, ids, 512), golden.tensor(last_logits), 2e-4);
  });
});

describe("gpt2-tiny under rules", async () => {
  const golden = await loadGolden("gpt2-tiny");
  const runner = await createRunner(opened, golden.weights, { maxNumBatchedTokens: 384 });

  it.each(golden.prompts)("has Hugging Face's greedy tokens after $name", async (prompt) => {
    const runs = [
      [{ repetitionPenalty: 1.3 }, prompt["greedy_repetition_penalty_1.3"]],
      [{ noRepeatNgramSize: 3 }, prompt.greedy_no_repeat_ngram_3],
      [{ repetitionPenalty: 1.3, noRepeatNgramSize: 3 }, prompt["greedy_repetition_penalty_1.3_no_repeat_ngram_3"]],
    ] as const;
    const expected = runs.map(([, run]) => run?.tokens ?? expect.fail("no run under these rules in the fixture"));
    const numTokens = expected[0]?.length ?? 0;
    const rules = runs.map(([rule]) => rule);
    const ids = runs.map(() => prompt.ids);
    const sizes = { numTokens, numGpuBlocks: 64, vocabSize: 512, rules };
    const { tokens } = await greedyTogether(opened, runner, ids, sizes);
    expect(tokens).toEqual(expected);
  });

  it("gives the most likely tokens to samples that want them, beside samples that don't", async () => {
    const [prompt] = golden.prompts;
    if (!prompt) throw new Error("no prompt in the fixture");
    const logits = golden.tensor(prompt.last_logits);
    const order = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));
    const entries = [0, 3].map((topLogprobs, slot) => {
      const sequence = placedSequence(prompt.ids, slot, prompt.ids.length);
      const asking = new Sequence({ ...sequence, params: { ...GREEDY, topLogprobs }, prompt: prompt.ids });
      placeSequence(asking, slot, sequence.blockTable);
      return {
        sequence: asking,
        start: 0,
        count: prompt.ids.length,
        samples: true,
        drafts: [],
        scored: 0,
        cachedTokens: 0,
      };
    });
    const { sequences } = await runner.submit(new StepPlanner().plan(entries));
    const [silent, telling] = sequences.map(({ drawn }) => drawn[0]);
    expect(silent?.top).toEqual([]);
    expect(telling?.top?.map(({ tokenId }) => tokenId)).toEqual(order.slice(0, 3));
    expect(telling?.top?.[0]?.logprob).toBeCloseTo(telling?.logprob ?? NaN, 5);
  });
});

describe("a scored prompt", async () => {
  const golden = await loadGolden("gpt2-tiny");
  const prompt = golden.prompts.find(({ all_logits: all }) => all);
  if (!prompt?.all_logits) throw new Error("no prompt with all logits in the fixture");
  const [, vocabSize = 0] = prompt.all_logits.t.shape;
  const logits = golden.tensor(prompt.all_logits.t);
  const ids = [...prompt.ids, ...prompt.greedy.tokens].slice(0, -1);
  const runner = await createRunner(opened, golden.weights, { maxNumSeqs: 32 });

  it("has the log-probability and rank of each of its tokens, beside a draw in the same step", async () => {
    const { blockTable } = placedSequence(ids, 2, ids.length + 1);
    // Rules and temperature change the draw, but must not change the scores.
    const params = { ...GREEDY, temperature: 2, topLogprobs: 1, promptLogprobs: 3, repetitionPenalty: 1.5 };
    const sequence = new Sequence({ requestId: "s", index: 0, params, prompt: ids, arrivalMs: 0 });
    placeSequence(sequence, 2, blockTable);
    const scored = ids.length - 1;
    const entry = { sequence, start: 0, count: ids.length, samples: true, drafts: [], scored, cachedTokens: 0 };
    const [result] = (await runner.submit(new StepPlanner().plan([entry]))).sequences;
    expect([result?.scored.length, result?.drawn.length]).toEqual([scored, 1]);
    for (const [row, { tokenId, logprob, rank, top }] of result!.scored.entries()) {
      const own = logits.subarray(row * vocabSize, (row + 1) * vocabSize);
      const logTotal = Math.log(own.reduce((sum, logit) => sum + Math.exp(logit), 0));
      const order = [...own.keys()].sort((a, b) => (own[b] ?? 0) - (own[a] ?? 0));
      expect(tokenId).toBe(ids[row + 1]);
      expect(logprob).toBeCloseTo((own[tokenId] ?? NaN) - logTotal, 4);
      expect(rank).toBe(1 + order.indexOf(tokenId));
      expect(top?.map((one) => one.tokenId)).toEqual(order.slice(0, 3));
      for (const one of top ?? []) expect(one.logprob).toBeCloseTo((own[one.tokenId] ?? NaN) - logTotal, 4);
    }
    expect(result?.drawn[0]?.rank).toBeUndefined();
    expect(result?.drawn[0]?.top).toHaveLength(1);
  });
});

/** As on the CPU: the bytes that were read say how much of a load is done. */
function countReads(weights: ModelWeights) {
  let bytes = 0;
  return { weights: withReportedReads(weights, (read) => (bytes += read)), bytes: () => bytes };
}

const LLAMA_TYPES = FAMILY_FIXTURES.filter((folder) => !folder.startsWith("gpt2"));

it.each(LLAMA_TYPES)("%s reads each weight once, and has Hugging Face's logits and greedy tokens", async (folder) => {
  const golden = await loadGolden(folder);
  const { prompts } = golden;
  const counted = countReads(golden.weights);
  const sizes = { maxNumSeqs: 8, maxNumBatchedTokens: 512, numGpuBlocks: 128 };
  // Later kernels have the bits of the first ones: exactness.gpu.test.ts, kernels/matmul.gpu.test.ts.
  const runner = await createRunner(opened, counted.weights, sizes, { isComplete: false });
  expect(counted.bytes()).toBe(bytesToRead(golden.weights));
  // Two of them begin another block. What follows is the same kernels' work; the CPU's tests have all tokens.
  const numTokens = 10;
  const ids = prompts.map((prompt) => prompt.ids);
  const { logits, tokens } = await greedyTogether(opened, runner, ids, {
    numTokens,
    numGpuBlocks: 128,
    vocabSize: 512,
  });
  for (const [i, prompt] of prompts.entries()) {
    expectClose(logits[i] ?? [], golden.tensor(prompt.last_logits), 2e-4);
    expect(tokens[i], prompt.name).toEqual(prompt.greedy.tokens.slice(0, numTokens));
  }
  runner.dispose();
});

const readFixture = async (path: string) =>
  new Uint8Array(await (await fetch(`/tests/fixtures/${path}`)).arrayBuffer());

/** One family for each switch of the kernels. The tokens that follow of the others are the same kernels' work. */
const SWITCHES: readonly string[] = [
  "arcee",
  "exaone4-window",
  "gemma2",
  "hunyuan-dense",
  "lfm2",
  "lfm2-long",
  "ministral",
  "olmo2",
  "phi3-longrope",
  "qwen35",
];

/** There is no GGUF of it among the fixtures. */
const SAFETENSORS_ONLY = "exaone4-window";
/** How a file of it is read is up to the CPU's tests; here every second family comes as GGUF. Of the delta net it has other kernels. */
const FORMS = DECODER_FIXTURES.map((name, i) => {
  const form = i % 2 && name !== SAFETENSORS_ONLY ? "GGUF" : "safetensors";
  return { name, forms: name === "qwen35" ? ["safetensors", "GGUF"] : [form] };
});

it.each(FORMS)("$name has the golden log-probabilities and greedy tokens, as $forms", async ({ name, forms }) => {
  const { weights, gguf, cases } = await openDecoderFixture(name, readFixture);
  for (const form of forms) {
    const given = form === "GGUF" ? await gguf() : weights;
    if (!given) throw new Error(`There is no ${form} of ${name}.`);
    await expectGolden(given, cases, SWITCHES.includes(name) ? 20 : 2);
  }
});

async function expectGolden(weights: ModelWeights, cases: DecoderFixture["cases"], numTokens: number) {
  const { vocabSize } = weights.model.shape;
  // Blocks enough for a state of each sequence.
  const sizes = { maxNumSeqs: 8, maxNumBatchedTokens: 512, numGpuBlocks: 512, kvCacheDtype: "f32" } as const;
  const runner = await createRunner(opened, weights, sizes, { isComplete: false });
  const ids = cases.map((one) => [...one.ids]);
  const { logits, tokens } = await greedyTogether(opened, runner, ids, { numTokens, numGpuBlocks: 512, vocabSize });
  for (const [i, golden] of cases.entries()) {
    expect(worstLogprob(logits[i] ?? [], golden)).toBeLessThan(1e-3);
    expect(tokens[i]).toEqual(golden.greedy.slice(0, numTokens));
  }
  runner.dispose();
}

describe("other kernels than this adapter's", () => {
  // Between them they have what any of the families has: norms of heads and on the residual, windows, caps, scaled
  // embeddings, gates of both kinds, states.
  it.each(["gemma2", "lfm2", "qwen35"] as const)(
    "those of GPUs have the golden log-probabilities of %s",
    async (name) => {
      const { weights, cases } = await openDecoderFixture(name, readFixture);
      for (const golden of cases.filter(({ ids }) => ids.length === 33)) {
        expect(worstLogprob(await gpuKernelLogits(opened, weights, golden.ids), golden)).toBeLessThan(1e-3);
      }
    },
  );

  it("those without subgroups have Hugging Face's greedy tokens of gemma3-tiny", async () => {
    const golden = await loadGolden("gemma3-tiny");
    const withoutSubgroups = { ...opened, isSoftware: true, hasSubgroups: false };
    const runner = await createRunner(withoutSubgroups, golden.weights, {}, { isComplete: false });
    for (const { ids, greedy } of golden.prompts.filter(({ name }) => name === "len33")) {
      expect(await greedyTokens(runner, ids, greedy.tokens.length)).toEqual(greedy.tokens);
    }
    runner.dispose();
  });
});

it("a checkpoint in halves has float64's logits of its weights, kept as halves", async () => {
  const { weights, prompts } = await loadGolden("qwen3-tiny");
  const halves = await storedAs(weights, "F16");
  const runner = await createRunner(opened, halves, { dtype: "f16" }, { isComplete: false });
  for (const { ids } of prompts.filter(({ name }) => name === "len33")) {
    const expected = await lastLogitsReference(halves, ids);
    expectClose(await lastLogits(opened, runner, ids, 512), expected, 5e-4);
  }
  runner.dispose();
});

it.each(["f32", "f16"] as const)(
  "layers of SmolLM2's proportions, in bf16 in the file, have float64's logits in %s",
  async (dtype) => {
    const model = describeModel({
      model_type: "llama",
      num_hidden_layers: 2,
      hidden_size: 144,
      intermediate_size: 384,
      num_attention_heads: 9,
      num_key_value_heads: 3,
      vocab_size: 1000,
      max_position_embeddings: 8192,
      rope_theta: 100_000,
      rms_norm_eps: 1e-5,
      tie_word_embeddings: true,
    });
    const weights = await storedAs(randomWeights(model), "BF16");
    const ids = Array.from({ length: 11 }, (_, i) => (i * 29 + 7) % 1000);
    const runner = await createRunner(opened, weights, { dtype }, { isComplete: false });
    const expected = await lastLogitsReference(weights, ids);
    // bf16 has smaller numbers than halves, which round them.
    expectClose(await lastLogits(opened, runner, ids, 1000), expected, dtype === "f32" ? 2e-4 : 2e-3);
    runner.dispose();
  },
);

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
  const runner = await createRunner(
    opened,
    golden.weights,
    { dtype: "f16", maxNumBatchedTokens: 512 },
    { isComplete: false },
  );

  it("has Hugging Face's logits after all prompts at once, and its greedy tokens", async () => {
    const numTokens = 4;
    const ids = golden.prompts.map((prompt) => prompt.ids);
    const sizes = { numTokens, numGpuBlocks: 64, vocabSize: 2048 };
    const { logits, tokens } = await greedyTogether(opened, runner, ids, sizes);
    for (const [i, { last_logits, greedy }] of golden.prompts.entries()) {
      expectClose(logits[i] ?? [], golden.tensor(last_logits), 5e-4);
      expect(tokens[i]).toEqual(greedy.tokens.slice(0, numTokens));
    }
  });
});
