// Two minutes of a long day on a virtual clock: everything but the numbers and the device is real.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { expect, it } from "vitest";

import type { EngineConfig } from "../../src/protocol/config.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";
import { VirtualClock } from "../../tests/fakes/virtual-clock.ts";
import { soak } from "./soak.ts";

const KINDS: readonly EngineConfig[] = [
  { maxNumSeqs: 12, maxNumBatchedTokens: 48, numGpuBlocks: 32, speculation: { method: "ngram" } },
  { maxNumSeqs: 8, maxNumBatchedTokens: 24, numGpuBlocks: 29, schedulingPolicy: "balanced", runAhead: 4 },
];

/** Steps from one row of an answer to its next: 1 is each step, and a step in flight may have been planned without it. */
const MAX_GAP_STEPS = 3;

it("comes through two minutes of mixed load with losses, leaving users, odd requests, drafts, preemptions, settings and models", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const clock = new VirtualClock();
  let open: FakeModel | null = null;
  const home = {
    numKinds: KINDS.length,
    async open(kind: number) {
      open = await openFakeModel({ seed: 1, ...KINDS[kind] }, clock);
      return open.engine;
    },
    nowMs: () => clock.nowMs,
    sleep: clock.sleep,
    loseDevice() {
      open?.backend.device.lose();
      return true;
    },
    async memory() {
      // What weak references and ended streams hold goes a turn later.
      for (let turn = 0; turn < 3; turn++) {
        collectGarbage();
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { heap: process.memoryUsage().heapUsed };
    },
  };
  const report = await clock.run(soak(home, { ms: 120_000, seed: 1 }));
  const { rounds, answered, compared, left, refused, losses, preemptions, draftTokens, leftEngines } = report;
  expect(losses).toBe(rounds);
  for (const count of [
    rounds - 4,
    answered - 200,
    compared - 200,
    left,
    refused,
    preemptions,
    draftTokens,
    leftEngines,
  ]) {
    expect(count).toBeGreaterThan(0);
  }
  expect(report.longestGapSteps).toBeLessThanOrEqual(MAX_GAP_STEPS);
  expect(Object.keys(report.growth)).toHaveLength(KINDS.length);
  // Three rounds of a kind. Where nothing is kept, a heap of 30 MB differs by less than 1 MB from the second to the last.
  for (const growth of Object.values(report.growth)) expect(growth).toBeLessThan(0.05);
});
