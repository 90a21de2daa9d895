// Compares an engine's answers, by its public API, with Hugging Face's golden values. Nothing of a test runner is imported:
// a bare page may import it, too.

import type { ChorusEngine } from "../../src/index.ts";
import type { Golden, GoldenPrompt } from "./golden.ts";

/** The three forms in which tests/fixtures/gpt2-tiny has its one checkpoint. */
export const CHECKPOINTS = ["model.safetensors", "model.legacy-buffers.safetensors", "model.hub-noprefix.safetensors"];

/** The most top tokens that a request may ask for. */
const NUM_TOP = 20;

export interface GoldenAnswer {
  readonly prompt: string;
  readonly tokens: readonly number[];
  readonly expectedTokens: readonly number[];
  /** The largest difference of a log-probability from Hugging Face's, over those that were told. */
  readonly worstError: number;
  readonly numLogprobs: number;
}

/** The folder of gpt2-tiny, as files that somebody drops on the page. */
export async function checkpointFiles(checkpoint: string): Promise<File[]> {
  const file = async (path: string, name: string) => {
    const response = await fetch(`/tests/fixtures/gpt2-tiny/${path}`);
    if (!response.ok) throw new Error(`tests/fixtures/gpt2-tiny/${path}: ${response.status}`);
    return new File([await response.blob()], name);
  };
  return Promise.all([
    file("config.json", "config.json"),
    file("tokenizer.json", "tokenizer.json"),
    file(checkpoint, "model.safetensors"),
  ]);
}

/** All prompts at once: the greedy tokens after each, and the likeliest tokens at each position that has golden logits. */
export function goldenAnswers(engine: ChorusEngine, golden: Golden): Promise<GoldenAnswer[]> {
  return Promise.all(
    golden.prompts.map(async (prompt): Promise<GoldenAnswer> => {
      const expectedTokens = prompt.greedy.tokens;
      const [drawn, scored] = await Promise.all([
        engine.completions.create({
          prompt: prompt.ids,
          temperature: 0,
          max_tokens: expectedTokens.length,
          ignore_eos: true,
          return_token_ids: true,
        }),
        engine.completions.create({
          // Without the last, for which a full context has no room.
          prompt: [...prompt.ids, ...expectedTokens.slice(0, -1)],
          max_tokens: 0,
          echo: true,
          prompt_logprobs: NUM_TOP,
        }),
      ]);
      const reported = scored.choices[0]?.prompt_logprobs ?? [];
      const errors = [...goldenLogprobs(golden, prompt)].flatMap(([position, expected]) =>
        Object.entries(reported[position] ?? {}).map(([id, { logprob }]) =>
          Math.abs(logprob - (expected[Number(id)] ?? NaN)),
        ),
      );
      return {
        prompt: prompt.name,
        tokens: drawn.choices[0]?.token_ids ?? [],
        expectedTokens,
        worstError: Math.max(0, ...errors),
        numLogprobs: errors.length,
      };
    }),
  );
}

/** Log-probabilities [vocabSize] of what stands at a position, by the logits of the one before. */
function goldenLogprobs(golden: Golden, prompt: GoldenPrompt): Map<number, Float64Array> {
  const { ids, all_logits: all, last_logits: last } = prompt;
  const logits = golden.tensor(all?.t ?? last);
  const vocabSize = last.shape.at(-1) ?? 0;
  const first = all ? 1 : ids.length;
  const numPositions = all ? ids.length + prompt.greedy.tokens.length - 2 : 1;
  return new Map(
    Array.from({ length: numPositions }, (_, i) => [
      first + i,
      logSoftmax(logits.subarray(i * vocabSize, (i + 1) * vocabSize)),
    ]),
  );
}

function logSoftmax(logits: Float32Array): Float64Array {
  const logTotal = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
  return Float64Array.from(logits, (logit) => logit - logTotal);
}
