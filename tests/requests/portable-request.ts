// A request that the CPU backend must answer with the same bits in every browser and in Node: if cpuMath is "portable", as it is
// where weights are multiplied as integers.

import type { ChorusEngine, CompletionRequest, EngineConfig } from "../../src/index.ts";

/** Configs of the embedded model, by the file of e2e/support/ that has its answers. */
export const PORTABLE: Readonly<Record<string, EngineConfig>> = {
  "portable-answers.txt": { backend: "cpu", cpuMath: "portable", dtype: "f32", kvCacheDtype: "f16" },
  "q4-answers.txt": { backend: "cpu", dtype: "q4", kvCacheDtype: "f16" },
  "q8-answers.txt": { backend: "cpu", dtype: "q8", kvCacheDtype: "f16" },
};
export const PORTABLE_FILES = Object.keys(PORTABLE);

const REQUEST: CompletionRequest & { stream?: false } = {
  prompt: ["Once upon a time", "What is the capital of France?", "The sea"],
  max_tokens: 40,
  temperature: 0.9,
  top_p: 0.95,
  repetition_penalty: 1.1,
  seed: 11,
  logprobs: 2,
  prompt_logprobs: 1,
  return_token_ids: true,
  ignore_eos: true,
};

/** Tokens and log-probabilities as text that keeps every bit. Serialised into a page by tests: it refers to nothing else. */
export async function portableAnswers(engine: ChorusEngine, request = REQUEST): Promise<string> {
  const { choices } = await engine.completions.create(request);
  const lines = choices.map(({ token_ids, logprobs, prompt_logprobs }) =>
    JSON.stringify([token_ids, logprobs?.token_logprobs, logprobs?.top_logprobs, prompt_logprobs]),
  );
  return `${lines.join("\n")}\n`;
}

export const PORTABLE_REQUEST = REQUEST;
