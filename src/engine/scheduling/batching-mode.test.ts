// The batching mode changes while the engine runs.
import { expect, it } from "vitest";
import { EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";

const tokens = (maxTokens: number) => ({ params: samplingParams({ maxTokens, ignoreEos: true }) });
const ids = (harness: EngineHarness) => harness.steps.at(-1)?.entries.map(({ requestId }) => requestId);

it("sequential: all but the first wait from the next step on, and go on one after the other where they were", async () => {
  const [harness, alone] = [new EngineHarness(), new EngineHarness()];
  for (const each of [harness, alone]) for (const id of ["a", "b", "c"]) each.add(id, [id.charCodeAt(0)], tokens(6));
  for (let i = 0; i < 3; i++) await harness.step();
  harness.update({ batchingMode: "sequential" });
  await harness.step();
  expect(ids(harness)).toEqual(["a"]);
  expect(harness.steps.at(-1)).toMatchObject({
    numRunning: 1,
    waitingIds: ["b", "c"],
    preempted: [
      { requestId: "c", index: 0 },
      { requestId: "b", index: 0 },
    ],
  });
  await harness.step();
  expect(harness.steps.at(-1)?.preempted).toEqual([]);
  await harness.runToEnd();
  expect(harness.steps.slice(3).map(({ entries }) => entries.length)).toEqual(Array(9).fill(1));
  await alone.runToEnd();
  expect(harness.choices).toEqual(alone.choices);
});

it("sequential: waits for the steps in flight before it preempts anyone", async () => {
  const harness = new EngineHarness({ config: { runAhead: 2 } });
  for (const id of ["a", "b"]) harness.add(id, [1], tokens(20));
  for (let i = 0; i < 4; i++) await harness.step();
  harness.update({ batchingMode: "sequential" });
  while (harness.engine.stats().num_requests_running > 1) await harness.step();
  await harness.runToEnd();
  expect(harness.choice("b")).toEqual(harness.choice("a"));
});

it("static: who runs is the batch, and nobody joins it; continuous: all join at once", async () => {
  const harness = new EngineHarness();
  for (const id of ["a", "b"]) harness.add(id, [1], tokens(8));
  await harness.step();
  harness.update({ batchingMode: "static" });
  harness.add("c", [1], tokens(8));
  await harness.step();
  expect(ids(harness)).toEqual(["a", "b"]);
  harness.update({ batchingMode: "static" });
  await harness.step();
  expect(ids(harness)).toEqual(["a", "b"]);
  harness.update({ batchingMode: "continuous" });
  await harness.step();
  expect(ids(harness)).toEqual(["a", "b", "c"]);
});

it("static: who runs and is preempted comes back into its batch, before those who came later", async () => {
  const harness = new EngineHarness({ config: { blockSize: 4, numGpuBlocks: 10, maxNumSeqs: 3 } });
  for (const id of ["a", "b"]) harness.add(id, [1], tokens(28));
  await harness.step();
  harness.update({ batchingMode: "static" });
  harness.add("c", [1], tokens(2));
  await harness.runToEnd();
  expect(harness.engine.stats().num_preemptions_total).toBeGreaterThan(0);
  const lastOf = (id: string) => harness.steps.findLastIndex((step) => step.entries.some((e) => e.requestId === id));
  const firstOfC = harness.steps.findIndex((step) => step.entries.some((e) => e.requestId === "c"));
  expect(firstOfC).toBeGreaterThan(lastOf("b"));
});

it("wakes an engine that waits for its batch window", async () => {
  let now = 0;
  const harness = new EngineHarness({
    config: { batchingMode: "static", batchWindowMs: 1e9 },
    delay: () => new Promise(() => undefined),
  });
  harness.add("a", [1], tokens(2));
  void harness.engine.run();
  while (now++ < 5) await Promise.resolve();
  expect(harness.steps).toEqual([]);
  harness.update({ batchingMode: "continuous" });
  await expect.poll(() => harness.choice("a").finishReason).toBe("length");
});
