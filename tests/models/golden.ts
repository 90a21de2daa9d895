// The golden values of fixtures/: what Hugging Face's PyTorch code computes with small random checkpoints.

import { NO_RULES } from "../../src/engine/sampling/logit-rules.ts";
import { NO_FILTERS, type SamplingParams } from "../../src/engine/sampling/sampling-params.ts";
import { describeModel } from "../../src/models/families.ts";
import { openWeights, type ModelWeights } from "../../src/models/model-weights.ts";
import { openSafetensors } from "../../src/files/safetensors.ts";
import type { FamilyFixture } from "./family-fixtures.ts";

interface TensorRef {
  off: number;
  shape: number[];
}

export interface GoldenPrompt {
  name: string;
  ids: number[];
  last_logits: TensorRef;
  greedy: { tokens: number[]; min_margin: number };
  /** Logits after Hugging Face's processors, by their names and arguments. */
  processed?: Record<string, { logits: TensorRef }>;
  "greedy_repetition_penalty_1.3"?: { tokens: number[] };
  greedy_no_repeat_ngram_3?: { tokens: number[] };
  "greedy_repetition_penalty_1.3_no_repeat_ngram_3"?: { tokens: number[] };
  debug?: Record<string, TensorRef>;
  /** At every position of the prompt with its greedy tokens. */
  all_logits?: { t: TensorRef };
  /** generate(num_beams=4, num_return_sequences=4). */
  beam?: { runs: GoldenBeamRun[] };
}

interface GoldenBeamRun {
  eos_token_id: number | null;
  length_penalty: number;
  early_stopping: boolean | "never";
  max_new_tokens: number;
  /** New tokens, the one that ended the answer included. */
  sequences: number[][];
  scores: number[];
}

interface GoldenFile {
  prompts: GoldenPrompt[];
  ngram_case?: Record<
    "last_logits" | "no_repeat_ngram_3" | "no_repeat_ngram_2" | "repetition_penalty_1.3",
    TensorRef
  > & {
    ids: number[];
  };
  context_full?: { ids: number[]; last_logits: TensorRef };
  /** Values with quantised weights, by scheme; "+wte": the embedding too. */
  quantisation?: { schemes: Record<string, { prompts: QuantisedPrompt[] }> };
}

interface QuantisedPrompt {
  /** Its name. */
  prompt: string;
  last_logits: TensorRef;
  greedy_tokens: number[];
  /** Root mean square of what quantising changes in the logits, over their standard deviation. */
  rel_rmse: number;
}

/** How the golden runs were drawn: greedily, past any end of text. */
export const GREEDY: SamplingParams = {
  ...NO_RULES,
  ...NO_FILTERS,
  temperature: 0,
  seed: 0,
  topLogprobs: 0,
  promptLogprobs: null,
  maxTokens: 1000,
  stop: [],
  stopTokenIds: [],
  includeStopStrInOutput: false,
  ignoreEos: true,
};

export interface Golden extends GoldenFile {
  tensor(ref: TensorRef): Float32Array;
  weights: ModelWeights;
}

async function fetchFixture(path: string): Promise<Response> {
  const response = await fetch(`/tests/fixtures/${path}`);
  if (!response.ok) throw new Error(`fixtures/${path}: ${response.status}`);
  return response;
}

export async function loadGolden(name: FamilyFixture | "gpt2-mid", checkpoint = "model.safetensors"): Promise<Golden> {
  const [json, floats, config, file] = await Promise.all([
    fetchFixture(`${name}/golden.json`).then((r) => r.json() as Promise<GoldenFile>),
    fetchFixture(`${name}/golden.f32`).then((r) => r.arrayBuffer()),
    fetchFixture(`${name}/config.json`).then((r) => r.json() as Promise<unknown>),
    fetchFixture(`${name}/${checkpoint}`).then((r) => r.blob()),
  ]);
  const values = new Float32Array(floats);
  return {
    ...json,
    tensor: ({ off, shape }) => values.subarray(off, off + shape.reduce((a, b) => a * b, 1)),
    weights: openWeights(await openSafetensors(file), (vocabSize) => describeModel(config, vocabSize)),
  };
}
