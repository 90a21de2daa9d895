import type { ChorusEngine } from "../../protocol/engine.ts";
import type { StepReport } from "../../protocol/reports.ts";
import { sumOf } from "../statistics.ts";
import { stepsOf, type SamplingFields } from "./load.ts";
import { decodeSteps } from "./load-summary.ts";

/** The config of an engine that measures decoding: prompts take whole steps, so that all sequences soon decode. */
export const DECODING = { enablePrefixCaching: false, maxStepStretch: 1000 } as const;

/**
 * Returns the steps in which the sequences of all prompts decode together, about `outputTokens` of them. The first ones begin
 * while the others' prompts are computed, and therefore get longer answers.
 */
export async function decodeTogether(
  engine: ChorusEngine,
  prompts: readonly (readonly number[])[],
  outputTokens: number,
  signal: AbortSignal,
  sampling: SamplingFields = {},
): Promise<StepReport[]> {
  const { maxNumBatchedTokens } = engine.config;
  const promptRows = Math.max(maxNumBatchedTokens - prompts.length, maxNumBatchedTokens / 4);
  const promptSteps = Math.ceil(sumOf(prompts.map(({ length }) => length)) / promptRows);
  const steps = await stepsOf(engine, prompts, outputTokens + promptSteps, signal, sampling);
  return decodeSteps(steps, prompts.length);
}
