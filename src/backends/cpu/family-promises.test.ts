// What holds for one family holds for each: whatever happens around a request, it gets the same tokens and
// log-probabilities, to the last bit. On the CPU, whose kernels take every switch of the families; the rest of the engine
// does not know them.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

import { createEngine, type CreateEngineOptions } from "../../index.ts";
import { allowRelaxedSimd } from "../../../tests/cpu/cpu.ts";
import {
  ALL_AT_ONCE,
  andDrafts,
  answersAlone,
  answersUnder,
  FEW_AT_ONCE,
  mixed,
  run,
  shared,
  STATES_AT_ONCE,
  WITH_EVERY_RULE,
  withFewTokens,
  type Circumstance,
  type Request,
} from "../../../tests/requests/exactness.ts";
import { FAMILY_FIXTURES } from "../../../tests/models/family-fixtures.ts";

allowRelaxedSimd();

function filesOf(fixture: string, changes: object = {}): File[] {
  const read = (name: string) => readFileSync(`tests/fixtures/${fixture}/${name}`);
  const config = JSON.stringify({ ...JSON.parse(read("config.json").toString()), ...changes });
  const others = ["tokenizer.json", "model.safetensors"].map((name) => new File([read(name)], name));
  return [new File([config], "config.json"), ...others];
}

/** A model that drafts for itself is always right, as long as its own cache is. */
const draftingFor = (model: File[]): Circumstance => ({
  name: "with its own drafts, preempted, in the prefix cache",
  config: { numGpuBlocks: 9, speculation: { method: "draft_model", model, num_speculative_tokens: 3 } },
  happened: ({ num_preemptions_total: preempted, ...stats }) =>
    preempted > 0 && stats.spec_decode_num_accepted_tokens_total === stats.spec_decode_num_draft_tokens_total,
});

/** A model that keeps states drafts for no other, and has few slots for them: two beside 9 blocks. */
const OF_STATES: readonly Circumstance[] = [
  andDrafts(STATES_AT_ONCE),
  {
    name: "in chunks of 7, preempted",
    config: { ...ALL_AT_ONCE.config, numGpuBlocks: 9 },
    happened: (stats) => stats.num_preemptions_total > 0,
  },
];

/** Choices of one request, and a search. Grammars come after the model; its family does not matter to them. */
const OTHERS: readonly Request[] = [
  { prompt: [3, 5, 8, 13, 21], n: 3, temperature: 1, seed: 4, max_tokens: 12 },
  { prompt: [3, 5, 8, 13, 21, 34], use_beam_search: true, best_of: 3, n: 2, temperature: 0, max_tokens: 8 },
].map((request) => ({ ...request, return_token_ids: true }));

const ON_CPU = { worker: false, backend: "cpu", cpuThreads: 1, dtype: "f32", kvCacheDtype: "f16" } as const;
/** GPT-2 is in exactness.test.ts, in every dtype. */
const OTHER_FAMILIES = [
  ...FAMILY_FIXTURES.filter((fixture) => fixture !== "gpt2-tiny"),
  "families/lfm2",
  "families/lfm2-long",
  "families/qwen35",
];

const create = withFewTokens(createEngine);

/** Weights of one family under another's config: switches that no family of these has. */
const SWITCHED: readonly (readonly [fixture: string, changes: object])[] = [
  ["gemma3-tiny", { attn_logit_softcapping: 2, final_logit_softcapping: 5 }],
  [
    "llama-tiny/untied",
    {
      model_type: "ministral3",
      rope_parameters: {
        rope_type: "yarn",
        factor: 4,
        original_max_position_embeddings: 16,
        llama_4_scaling_beta: 0.5,
      },
      residual_multiplier: 0.4,
      logits_scaling: 2,
    },
  ],
];

describe.each([...OTHER_FAMILIES.map((fixture) => [fixture, {}] as const), ...SWITCHED])(
  "%s %j",
  async (fixture, changes) => {
    const model = filesOf(fixture, changes);
    const base: CreateEngineOptions = { model, ...ON_CPU };
    const keepsStates = fixture === "families/qwen35";
    const count = keepsStates ? undefined : WITH_EVERY_RULE;
    const alone = await answersAlone(create, base, count);

    it.each(keepsStates ? OF_STATES : [andDrafts(FEW_AT_ONCE), draftingFor(model)])(
      "a request is what it is alone: $name",
      async (circumstance) => {
        const { rounds, hasHappened, stats } = await answersUnder(create, base, circumstance, 1, count);
        for (const answers of rounds) expect(answers).toEqual(alone);
        expect(hasHappened, JSON.stringify(stats)).toBe(true);
        expect(stats.num_gpu_blocks_free).toBe(stats.num_gpu_blocks);
      },
    );

    it("choices and beams are what they are alone", async () => {
      await using engine = await create(base);
      const one = [];
      for (const request of OTHERS) one.push(await run(engine, request));
      const together = await Promise.all(OTHERS.map((request) => run(engine, request)));
      expect(together).toEqual(one);
    });
  },
);

describe("what lies before a window that all layers have", () => {
  const base = { ...ON_CPU, model: filesOf("llama-tiny/untied") };
  const windowed = { ...base, model: filesOf("llama-tiny/untied", { model_type: "mistral", sliding_window: 16 }) };

  /** Each has 96 tokens: six blocks. A window of 16 is in at most three, also before a chunk of 7 and three steps ahead. */
  const LONG: readonly Request[] = [0, 1, 2, 3, 4].map((salt) => ({
    prompt: Array.from({ length: 48 }, (_, position) => mixed(salt, position)),
    max_tokens: 48,
    ignore_eos: true,
  }));

  it("makes room for others", async () => {
    const preemptions = [];
    for (const options of [base, windowed]) {
      await using engine = await createEngine({ ...options, ...ALL_AT_ONCE.config, numGpuBlocks: 18 });
      await Promise.all(LONG.map((request) => run(engine, request)));
      preemptions.push((await engine.stats()).num_preemptions_total);
    }
    expect(preemptions[0]).toBeGreaterThan(0);
    expect(preemptions[1]).toBe(0);
  });

  it("changes no bit when it goes", async () => {
    const happened: Circumstance["happened"] = (stats) => shared(stats) && stats.prefix_cache_hits > 0;
    const { rounds, hasHappened, stats } = await answersUnder(createEngine, windowed, { ...ALL_AT_ONCE, happened }, 2);
    const alone = await answersAlone(createEngine, windowed);
    for (const answers of rounds) expect(answers).toEqual(alone);
    expect(hasHappened, JSON.stringify(stats)).toBe(true);
  });
});
