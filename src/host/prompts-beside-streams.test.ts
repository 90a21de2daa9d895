// A prompt that comes while another request streams, on machines where rows cost much and little. The clock is simulated.

import { expect, test } from "vitest";

import { ROW_WORDS } from "../engine/step-plan.ts";
import type { StepReport } from "../protocol/reports.ts";
import { openFakeModel } from "../../tests/fakes/fake-model.ts";
import { VirtualClock } from "../../tests/fakes/virtual-clock.ts";

const PROMPT_TOKENS = 380;

/** Returns the steps that computed a long prompt beside a stream, whose own prompt was the first that the engine saw. */
async function stepsOfPrompt({ fixedMs, rowMs }: { fixedMs: number; rowMs: number }): Promise<StepReport[]> {
  const clock = new VirtualClock();
  const { engine, backend } = await clock.run(openFakeModel({ runAhead: 0, enablePrefixCaching: false }, clock));
  backend.stepTime = (plan) => clock.sleep(fixedMs + (rowMs * plan.rows.length) / ROW_WORDS);
  const ask = (request_id: string, tokens: number, max_tokens: number) =>
    engine.completions.create({
      prompt: Array.from({ length: tokens }, (_, i) => 1 + (i % 40)),
      request_id,
      max_tokens,
      ignore_eos: true,
    });
  const steps: StepReport[] = [];
  const requested: Promise<unknown>[] = [];
  engine.on("step", (step) => {
    steps.push(step);
    if (steps.length === 10) requested.push(ask("second", PROMPT_TOKENS, 1));
  });
  await clock.run(ask("stream", 120, 90));
  await Promise.all(requested);
  await engine.dispose();
  return steps.filter(({ promptRows, rows }) => promptRows > 0 && promptRows < rows);
}

test("where rows are cheap, it takes no more steps than the token budget asks for", async () => {
  const steps = await stepsOfPrompt({ fixedMs: 20, rowMs: 0.05 });
  expect(steps.map(({ promptRows }) => promptRows).reduce((sum, rows) => sum + rows, 0)).toBe(PROMPT_TOKENS);
  expect(steps).toHaveLength(2);
  for (const { stepMs } of steps) expect(stepMs).toBeLessThan(2 * 20.05 + 1);
});

test("where rows are dear, the stream never waits for more than the fewest", async () => {
  const steps = await stepsOfPrompt({ fixedMs: 2, rowMs: 2 });
  for (const { promptRows } of steps) expect(promptRows).toBeLessThanOrEqual(8);
});
