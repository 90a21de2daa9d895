// What a round of drafting costs, beside a step without.

import { medianOf } from "../statistics.ts";
import { randomIntegers, seededRandom } from "../seeded-random.ts";
import type { ChorusEngine, DraftModelSpeculationConfig, EngineConfig, StepReport } from "../../src/index.ts";

interface DraftWorkload {
  readonly sequences: readonly number[];
  readonly promptTokens: number;
  readonly newTokens: number;
  readonly repeats: number;
  readonly vocabSize: number;
}

export interface DraftCost {
  readonly count: number;
  /** Of a step in which each sequence has a row. */
  readonly stepMs: number;
  /** Of a step that checks drafts, with the steps of the draft model before it. */
  readonly roundMs: number;
}

/** Measures engines with and without drafts in turn. */
export async function draftCosts(
  open: (config: Pick<EngineConfig, "speculation">) => Promise<ChorusEngine>,
  speculation: DraftModelSpeculationConfig,
  workload: DraftWorkload,
): Promise<DraftCost[]> {
  const { sequences, repeats } = workload;
  const { num_speculative_tokens: numDrafted = 4 } = speculation;
  const random = seededRandom(1);
  await using plain = await open({ speculation: null });
  await using drafting = await open({ speculation });
  const costs = sequences.map((count) => ({ count, stepMs: [] as number[], roundMs: [] as number[] }));
  for (let round = 0; round <= repeats; round++) {
    for (const { count, stepMs, roundMs } of costs) {
      const prompts = Array.from({ length: count }, () =>
        randomIntegers(random, workload.promptTokens, 0, workload.vocabSize - 2),
      );
      const isStep = ({ entries }: StepReport) => entries.length === count && entries.every(({ rows }) => rows === 1);
      const isRound = ({ entries }: StepReport) =>
        entries.length === count &&
        entries.every(({ drafted, promptRows }) => drafted === numDrafted && promptRows === 0);
      const steps = (await stepsOf(plain, prompts, workload.newTokens)).filter(isStep);
      // The first one computes the prompt in the draft model.
      const rounds = (await stepsOf(drafting, prompts, workload.newTokens)).filter(isRound).slice(1);
      if (round === 0) continue; // to warm up
      stepMs.push(...steps.map((step) => step.stepMs));
      roundMs.push(...rounds.map((step) => step.stepMs));
    }
  }
  return costs.map(({ count, stepMs, roundMs }) => ({ count, stepMs: medianOf(stepMs), roundMs: medianOf(roundMs) }));
}

async function stepsOf(engine: ChorusEngine, prompt: number[][], newTokens: number): Promise<StepReport[]> {
  const steps: StepReport[] = [];
  const stop = engine.on("step", (step) => steps.push(step));
  await engine.completions.create({ prompt, max_tokens: newTokens, ignore_eos: true, temperature: 0 });
  stop();
  return steps;
}
