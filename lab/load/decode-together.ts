import type { ChorusEngine } from "../../src/protocol/engine.ts";
import type { CompletionRequest } from "../../src/protocol/openai.ts";
import type { StepReport } from "../../src/protocol/reports.ts";
import { withSteps } from "./load.ts";
import { decodeSteps } from "./load-summary.ts";

/** How tokens are drawn. [greedily] */
export type SamplingFields = Pick<
  CompletionRequest,
  "temperature" | "top_k" | "top_p" | "min_p" | "presence_penalty" | "repetition_penalty" | "logprobs" | "seed"
>;

/** The config of an engine that measures decoding: prompts take whole steps, so that all sequences soon decode. */
export const DECODING = { enablePrefixCaching: false, maxStepStretch: 1000 } as const;

/** Returns the most steps for the prompts after the first one, while earlier ones decode. */
function laterPromptSteps({ config }: ChorusEngine, count: number, promptTokens: number): number {
  const { maxNumBatchedTokens } = config;
  const promptRows = Math.max(maxNumBatchedTokens - count, maxNumBatchedTokens / 4);
  return Math.ceil(((count - 1) * promptTokens) / promptRows);
}

/** Returns the numbers of sequences that can decode together, or 1 if none can, and a note that names the others. */
export function countsThatFit(
  engine: ChorusEngine,
  counts: readonly number[],
  promptTokens: number,
  outputTokens: number,
): { readonly counts: readonly number[]; readonly notes: readonly string[] } {
  const fits = (count: number) =>
    promptTokens + outputTokens + laterPromptSteps(engine, count, promptTokens) <= engine.model.contextLength;
  const left = counts.filter((count) => !fits(count));
  const note =
    `${left.join(", ")} at once are left out: the first answers would fill the model’s context of ` +
    `${engine.model.contextLength} tokens before the last prompts are computed.`;
  const fitting = counts.filter(fits);
  return { counts: fitting.length > 0 ? fitting : [1], notes: left.length > 0 ? [note] : [] };
}

/**
 * Returns the steps in which the sequences of all prompts decode together, about `outputTokens` of them. The first ones begin
 * while the others' prompts are computed, and therefore get longer answers. @param prompts all of one length
 */
export async function decodeTogether(
  engine: ChorusEngine,
  prompts: readonly (readonly number[])[],
  outputTokens: number,
  signal: AbortSignal,
  sampling: SamplingFields = {},
): Promise<StepReport[]> {
  const growth = laterPromptSteps(engine, prompts.length, prompts[0]?.length ?? 0);
  const prompt = prompts.map((tokens) => [...tokens]);
  // One request, so that all start together: none ends before another arrives.
  const body = { prompt, max_tokens: outputTokens + growth, temperature: 0, ignore_eos: true, ...sampling };
  const [, steps] = await withSteps(engine, () => engine.completions.create(body, { signal }));
  return decodeSteps(steps, prompts.length);
}
