// Beam searches that compete with each other, and with requests that are drawn, for slots and blocks that hardly do for
// one of them. Each must find what it finds alone, and leave nothing behind.
import { expect, it } from "vitest";
import fc from "fast-check";
import { EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";
import type { EngineOptions } from "../engine-options.ts";
import type { BeamSearchParams } from "../sampling/sampling-params.ts";

const VOCABULARY = Array.from({ length: 12 }, (_, id) => Uint8Array.of(97 + id));
const [MAX_BEAMS, MAX_PROMPT, MAX_TOKENS] = [4, 8, 8];

/** Blocks for all beams of one search. Each step looks at every block, whether all is in order. */
const ALONE = { maxModelLen: MAX_PROMPT + MAX_TOKENS, numGpuBlocks: 32 };

const search = fc.record({
  numBeams: fc.integer({ min: 1, max: MAX_BEAMS }),
  lengthPenalty: fc.constantFrom(-1, 0, 1, 2),
  earlyStopping: fc.constantFrom<BeamSearchParams["earlyStopping"][]>(true, false, "never"),
});

const request = fc
  .record({
    arrivesAtStep: fc.nat({ max: 4 }),
    prompt: fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: MAX_PROMPT }),
    beamSearch: fc.option(search, { freq: 4 }),
    n: fc.integer({ min: 1, max: MAX_BEAMS }),
    priority: fc.nat({ max: 1 }),
    params: fc.record({ maxTokens: fc.integer({ min: 4, max: MAX_TOKENS }), ignoreEos: fc.boolean() }),
    abortsAtStep: fc.constantFrom(null, null, null, null, 5, 15),
  })
  .map(({ n, params, ...rest }) => ({
    ...rest,
    n: Math.min(n, rest.beamSearch?.numBeams ?? 1),
    params: samplingParams(params),
  }));

const config: fc.Arbitrary<Partial<EngineOptions["config"]>> = fc.record({
  blockSize: fc.integer({ min: 1, max: 4 }),
  maxNumSeqs: fc.integer({ min: MAX_BEAMS, max: 4 * MAX_BEAMS }),
  maxNumBatchedTokens: fc.integer({ min: 1, max: 20 }),
  maxModelLen: fc.constant(MAX_PROMPT + MAX_TOKENS),
  runAhead: fc.nat({ max: 3 }),
  enablePrefixCaching: fc.boolean(),
  speculation: fc.constantFrom(null, { method: "ngram" as const, numTokens: 2, minMatch: 1 }),
  schedulingPolicy: fc.constantFrom("fcfs", "priority", "shortest-remaining", "balanced"),
  batchingMode: fc.constantFrom("continuous", "continuous", "static", "sequential"),
});

/** Blocks for the one that may need most, and a few more. */
const traffic = fc.record({
  config,
  spareBlocks: fc.nat({ max: 3 }),
  requests: fc.array(request, { minLength: 6, maxLength: 10 }),
});

it("finds what it finds alone, however little room there is", async () => {
  const seen = { answers: 0, preemptions: 0, aborted: 0, forkedSteps: 0 };
  await fc.assert(
    fc.asyncProperty(traffic, async ({ config: changes, spareBlocks, requests }) => {
      const needs = requests.map(({ prompt, params, beamSearch }) => {
        const length = prompt.length + params.maxTokens;
        return (beamSearch?.numBeams ?? 1) * Math.ceil(length / (changes.blockSize ?? 1));
      });
      const numGpuBlocks = Math.max(...needs) + spareBlocks;
      const harness = new EngineHarness({ config: { ...changes, numGpuBlocks }, vocabulary: VOCABULARY });
      for (let step = 0; step < 5 || harness.hasWork; step++) {
        if (step >= 4000) throw new Error(`At work after ${step} steps.`);
        for (const [id, { arrivesAtStep, abortsAtStep, ...rest }] of requests.entries()) {
          if (arrivesAtStep === step) harness.add(`${id}`, rest.prompt, rest);
          if (abortsAtStep === step) harness.engine.abort(`${id}`);
        }
        await harness.step();
      }

      for (const [id, { prompt, params, beamSearch, n }] of requests.entries()) {
        const alone = new EngineHarness({ config: ALONE, vocabulary: VOCABULARY });
        alone.add("alone", prompt, { params, beamSearch, n });
        await alone.runToEnd();
        for (let index = 0; index < n; index++) {
          const choice = harness.choice(`${id}`, index);
          const isAborted = choice.finishReason === "abort" && choice.stopReason === null;
          if (isAborted) seen.aborted += 1;
          else expect(choice).toEqual(alone.choice("alone", index));
          if (choice.score !== null) seen.answers += 1;
        }
      }
      seen.forkedSteps += harness.steps.filter(({ entries }) => entries.length > 1).length;
      const stats = harness.engine.stats();
      seen.preemptions += stats.num_preemptions_total;
      expect(stats.num_gpu_blocks_free).toBe(numGpuBlocks);
    }),
    { numRuns: 150 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10);
});
