// An abort may come at any moment, and more than once. It must free everything, end only its own request, and say so
// exactly once.
import { beforeEach, describe, expect, it } from "vitest";
import { byteTokens, EngineHarness, samplingParams, scriptedRunner } from "../../../tests/fakes/engine-harness.ts";

const LONG = { params: samplingParams({ ignoreEos: true, maxTokens: 20 }) };

describe("abort", () => {
  let harness: EngineHarness;
  let expected: number[];

  beforeEach(async () => {
    const config = { maxNumSeqs: 2, maxNumBatchedTokens: 8, numGpuBlocks: 14, blockSize: 4 };
    const alone = new EngineHarness({ config });
    alone.add("neighbour", [7, 8, 9], LONG);
    await alone.runToEnd();
    expected = alone.choice("neighbour").tokenIds;

    harness = new EngineHarness({ config });
    harness.add("neighbour", [7, 8, 9], LONG);
  });

  /** The aborted has ended once, and the neighbour has noticed nothing. */
  async function expectOnlyItEnded(id: string): Promise<void> {
    expect(harness.choice(id).finishReason).toBe("abort");
    await harness.runToEnd();
    const endings = harness.requests.filter((report) => report.requestId === id && report.status === "finished");
    expect(endings).toMatchObject([{ finishReason: "abort" }]);
    expect(harness.choice("neighbour")).toMatchObject({ tokenIds: expected, finishReason: "length" });
    expect(harness.engine.stats()).toMatchObject({ num_gpu_blocks_free: 14, num_requests_running: 0 });
  }

  it("takes a request that waits out of the queue at once", async () => {
    harness.add("other", [1], LONG);
    await harness.step();
    harness.add("a", [1], LONG);
    harness.engine.abort("a");
    expect(harness.engine.stats().num_requests_waiting).toBe(0);
    await expectOnlyItEnded("a");
  });

  it("ends a request whose prompt is half computed", async () => {
    harness.add(
      "a",
      Array.from({ length: 30 }, (_, i) => i),
      LONG,
    );
    await harness.step();
    harness.engine.abort("a");
    expect(harness.choice("a").tokenIds).toEqual([]);
    await expectOnlyItEnded("a");
  });

  it("ends a request that generates, which keeps what it has said", async () => {
    harness.add("a", [1], LONG);
    await harness.step();
    await harness.step();
    harness.engine.abort("a");
    expect(harness.choice("a").tokenIds).toHaveLength(2);
    await expectOnlyItEnded("a");
  });

  it("ends at once what has a step in flight, and drops that step's token", async () => {
    harness.add("a", [1], LONG);
    await harness.step();
    const step = harness.step();
    harness.engine.abort("a");
    expect(harness.choice("a").finishReason).toBe("abort");
    await step;
    expect(harness.choice("a").tokenIds).toHaveLength(1);
    expect(harness.steps.at(-1)?.entries.at(-1)).toMatchObject({ requestId: "a", finishReason: "abort" });
    await expectOnlyItEnded("a");
  });

  it("wins over the end that the step in flight would have brought", async () => {
    harness.add("a", [1], { params: samplingParams({ maxTokens: 1 }) });
    const step = harness.step();
    harness.engine.abort("a");
    await step;
    await expectOnlyItEnded("a");
  });

  it("ends a request that was queued while a step is in flight", async () => {
    const step = harness.step();
    harness.add("a", [1], LONG);
    harness.engine.abort("a");
    await step;
    await expectOnlyItEnded("a");
  });

  it("ends a request that was preempted and waits to go on", async () => {
    harness.add(
      "a",
      Array.from({ length: 30 }, (_, i) => i),
      LONG,
    );
    while (harness.engine.stats().num_preemptions_total === 0) await harness.step();
    harness.engine.abort("a");
    await expectOnlyItEnded("a");
  });

  it("ends all choices of a request", async () => {
    harness.add("a", [1], { ...LONG, n: 3 });
    await harness.step();
    harness.engine.abort("a");
    expect([0, 1, 2].map((index) => harness.choice("a", index).finishReason)).toEqual(["abort", "abort", "abort"]);
    expect(harness.engine.stats().request_success_total.abort).toBe(3);
    await harness.runToEnd();
    expect(harness.choice("neighbour").tokenIds).toEqual(expected);
  });

  it("does nothing the second time, between steps or within one", async () => {
    harness.add("a", [1], LONG);
    const step = harness.step();
    harness.engine.abort("a");
    harness.engine.abort("a");
    await step;
    harness.engine.abort("a");
    await expectOnlyItEnded("a");
  });

  it("ignores what has ended and what never was", async () => {
    await harness.runToEnd();
    const reports = harness.requests.length;
    harness.engine.abort("neighbour");
    harness.engine.abort("nobody");
    expect(harness.requests).toHaveLength(reports);
    expect(harness.choice("neighbour").finishReason).toBe("length");
  });

  it("shows what was held back", async () => {
    const speaking = new EngineHarness({ runner: scriptedRunner(byteTokens("so EN")) });
    speaking.add("a", [1], { params: samplingParams({ stop: ["END"] }) });
    for (let i = 0; i < 5; i++) await speaking.step();
    expect(speaking.choice("a").text).toBe("so ");
    speaking.engine.abort("a");
    expect(speaking.choice("a").text).toBe("so EN");
  });
});
