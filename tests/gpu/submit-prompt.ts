import { Sequence } from "../../src/engine/sequence.ts";
import { StepPlanner } from "../../src/engine/step-planner.ts";
import type { Runner, StepResult } from "../../src/engine/runner.ts";
import { placeSequence } from "../fakes/place-sequence.ts";
import { GREEDY } from "../models/golden.ts";

const PROMPT = Array.from({ length: 60 }, (_, i) => i);

/** Has a runner compute one prompt of 60 tokens, and draw the token that follows. */
export function submitPrompt(runner: Runner): Promise<StepResult> {
  const sequence = new Sequence({ requestId: "s", index: 0, params: GREEDY, prompt: PROMPT, arrivalMs: 0 });
  placeSequence(sequence, 0, [3, 1, 2, 0]);
  const entry = { sequence, start: 0, count: PROMPT.length, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
  return runner.submit(new StepPlanner().plan([entry]));
}
