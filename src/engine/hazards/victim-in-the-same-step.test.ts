// Whoever gives its blocks up must not be in the plan of that very step: its rows would be written into blocks that
// have a new owner, and its share of the budget would be lost.
import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { ROOMY, samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { Scheduler } from "../scheduling/scheduler.ts";
import { Sequence } from "../sequence.ts";

describe("a sequence that is preempted", () => {
  it("has no rows in the step that preempts it, and the rest is in order of arrival", () => {
    let preemptions = 0;
    const lengths = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(
        lengths,
        fc.integer({ min: 6, max: 10 }),
        fc.integer({ min: 1, max: 9 }),
        (prompts, blocks, budget) => {
          const scheduler = new Scheduler({
            ...ROOMY,
            maxNumSeqs: 6,
            maxNumBatchedTokens: budget,
            blockSize: 2,
            numGpuBlocks: blocks,
          });
          const params = samplingParams({ maxTokens: 1000 });
          const sequences = prompts.map((length, i) => {
            const prompt = Array.from<number>({ length }).fill(0);
            return new Sequence({ requestId: `${i}`, index: 0, params, prompt, arrivalMs: i });
          });
          for (const sequence of sequences) scheduler.add(sequence);

          for (let step = 0; step < 40; step++) {
            const plan = scheduler.schedule(0, true);
            for (const { sequence, start, count, samples } of plan) {
              expect(sequence.isRunning).toBe(true);
              expect(sequence.slot).not.toBeNull();
              expect(sequence.blockTable.length * 2).toBeGreaterThanOrEqual(start + count);
              if (!samples) continue;
              sequence.append(0);
            }
            expect(plan.reduce((sum, entry) => sum + entry.count, 0)).toBeLessThanOrEqual(budget);
            const arrivals = plan.map((entry) => entry.sequence.arrivalMs);
            expect(arrivals).toEqual(arrivals.toSorted((a, b) => a - b));
            scheduler.assertConsistent();
            for (const { sequence } of plan)
              if (sequence.tokens.length >= blocks * 2) scheduler.finish(sequence, "length");
          }
          preemptions += scheduler.numPreemptions;
        },
      ),
    );
    expect(preemptions).toBeGreaterThan(100);
  });
});
