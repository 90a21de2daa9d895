// The order of service: policies, batching modes, the queue's bound, deadlines, and choices that share their prompt.
import { describe, expect, it } from "vitest";
import { EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";

/** Requests in the order in which they were first scheduled. */
function order(harness: EngineHarness): string[] {
  return [...new Set(harness.steps.flatMap(({ entries }) => entries.map(({ requestId }) => requestId)))];
}

const tokens = (maxTokens: number) => ({ params: samplingParams({ maxTokens, ignoreEos: true }) });

describe("the policy", () => {
  it("fcfs serves by arrival", async () => {
    const harness = new EngineHarness({ config: { maxNumSeqs: 1 } });
    for (const id of ["a", "b", "c"]) harness.add(id, [1], { priority: id === "c" ? -5 : 0 });
    await harness.runToEnd();
    expect(order(harness)).toEqual(["a", "b", "c"]);
  });

  it("priority serves the lowest number first, and by arrival among equals", async () => {
    const harness = new EngineHarness({ config: { maxNumSeqs: 1, schedulingPolicy: "priority" } });
    for (const [id, priority] of Object.entries({ a: 1, b: 0, c: -1, d: 0 })) harness.add(id, [1], { priority });
    await harness.runToEnd();
    expect(order(harness)).toEqual(["c", "b", "d", "a"]);
  });

  it("shortest-remaining serves what is done soonest first", async () => {
    const harness = new EngineHarness({ config: { maxNumSeqs: 1, schedulingPolicy: "shortest-remaining" } });
    harness.add("long", [1], tokens(20));
    harness.add(
      "prompt",
      Array.from({ length: 15 }, (_, i) => i),
      tokens(2),
    );
    harness.add("short", [1], tokens(3));
    await harness.runToEnd();
    expect(order(harness)).toEqual(["short", "prompt", "long"]);
  });

  it("balanced serves short requests first, until a long one has waited in proportion to its length", async () => {
    const harness = new EngineHarness({ config: { maxNumSeqs: 1, schedulingPolicy: "balanced" } });
    harness.add("running", [1], tokens(8));
    await harness.step();
    harness.add("long", [1], tokens(64));
    harness.add("short", [1], tokens(4));
    while (harness.choice("short").finishReason === null) await harness.step();
    expect(harness.choice("long").tokenIds).toEqual([]);
    while (harness.choice("long").tokenIds.length === 0) {
      if (harness.engine.stats().num_requests_waiting < 2) harness.add(`${harness.steps.length}`, [1], tokens(4));
      await harness.step();
    }
    // It costs 16 times as much as they do, and so it waits about four times as long.
    expect(harness.steps.length).toBeGreaterThan(12);
    expect(harness.steps.length).toBeLessThan(40);
    await harness.runToEnd();
  });

  it("balanced goes on with what was preempted before it begins with anything else", async () => {
    const harness = new EngineHarness({
      config: { maxNumSeqs: 2, schedulingPolicy: "balanced", blockSize: 4, numGpuBlocks: 10 },
    });
    harness.add("a", [1, 2], tokens(32));
    harness.add("b", [3, 4], tokens(32));
    while (harness.engine.stats().num_preemptions_total === 0) await harness.step();
    harness.add("new", [5], tokens(1));
    const preemptedAt = harness.steps.length;
    await harness.runToEnd();
    const firstOf = (id: string) =>
      harness.steps.findIndex((step, i) => i >= preemptedAt && step.entries.some(({ requestId }) => requestId === id));
    expect(firstOf("b")).toBeLessThanOrEqual(firstOf("new"));
    expect(order(harness)).toEqual(["a", "b", "new"]);
  });

  it("balanced preempts who arrived last, however short it is", async () => {
    const harness = new EngineHarness({
      config: { maxNumSeqs: 3, schedulingPolicy: "balanced", blockSize: 4, numGpuBlocks: 12 },
    });
    harness.add("long", [1, 2], tokens(40));
    while (harness.choice("long").tokenIds.length < 16) await harness.step();
    for (const id of ["b", "c"]) harness.add(id, [3, 4], tokens(14));
    await harness.runToEnd();
    const preempted = harness.steps.flatMap((step) => step.preempted.map(({ requestId }) => requestId));
    expect(preempted).not.toEqual([]);
    expect(preempted).not.toContain("long");
  });

  it("balanced forms static batches of similar lengths", async () => {
    const config = { maxNumSeqs: 2, schedulingPolicy: "balanced", batchingMode: "static" } as const;
    const harness = new EngineHarness({ config });
    const lengths = { a: 40, b: 5, c: 6, d: 41 };
    for (const [id, length] of Object.entries(lengths)) harness.add(id, [1], tokens(length));
    await harness.runToEnd();
    expect(order(harness)).toEqual(["b", "c", "a", "d"]);
    expect(harness.steps).toHaveLength(6 + 41);
  });

  it.each(["priority", "shortest-remaining", "balanced"] as const)("%s starves nobody", async (schedulingPolicy) => {
    const harness = new EngineHarness({ config: { maxNumSeqs: 1, schedulingPolicy, maxModelLen: 64 } });
    harness.add(
      "patient",
      Array.from({ length: 20 }, () => 1),
      { ...tokens(30), priority: 3 },
    );
    for (let i = 0; harness.choice("patient").finishReason === null; i++) {
      expect(i).toBeLessThan(800);
      if (harness.engine.stats().num_requests_waiting < 3) harness.add(`${i}`, [1], { ...tokens(2), priority: 0 });
      await harness.step();
    }
  });
});

describe("the batching mode", () => {
  it("sequential runs one sequence at a time", async () => {
    const harness = new EngineHarness({ config: { batchingMode: "sequential" } });
    for (const id of ["a", "b", "c"]) harness.add(id, [1]);
    await harness.runToEnd();
    expect(Math.max(...harness.steps.map(({ entries }) => entries.length))).toBe(1);
    expect(order(harness)).toEqual(["a", "b", "c"]);
  });

  it("static lets nobody join a batch that has begun", async () => {
    const harness = new EngineHarness({ config: { batchingMode: "static", batchWindowMs: 0 } });
    harness.add("a", [1], tokens(4));
    harness.add("b", [1], tokens(10));
    await harness.step();
    harness.add("late", [1], tokens(2));
    while (harness.choice("b").finishReason === null) {
      await harness.step();
      expect(order(harness)).toEqual(["a", "b"]);
    }
    await harness.runToEnd();
    expect(order(harness)).toEqual(["a", "b", "late"]);
  });

  it("static waits out its window for others to join, unless the batch is full", async () => {
    const harness = new EngineHarness({ config: { batchingMode: "static", batchWindowMs: 40, maxNumSeqs: 2 } });
    harness.add("a", [1]);
    await harness.step();
    expect(harness.steps).toEqual([]);
    harness.add("b", [1]);
    await harness.step();
    expect(harness.steps[0]?.entries.map(({ requestId }) => requestId)).toEqual(["a", "b"]);

    const lonely = new EngineHarness({ config: { batchingMode: "static", batchWindowMs: 40 } });
    lonely.add("a", [1]);
    await lonely.runToEnd();
    const report = lonely.requests.find(({ status }) => status === "finished");
    expect((report?.scheduledMs ?? 0) - (report?.arrivalMs ?? 0)).toBeGreaterThanOrEqual(40);
  });

  it.each(["static", "sequential"] as const)("%s changes nobody's tokens", async (batchingMode) => {
    const [harness, continuous] = [batchingMode, "continuous" as const].map(
      (mode) => new EngineHarness({ config: { batchingMode: mode } }),
    );
    for (const engine of [harness!, continuous!]) {
      for (let i = 0; i < 9; i++) engine.add(`${i}`, [i, i + 1], { n: 2 });
      await engine.runToEnd();
    }
    expect(harness!.choices).toEqual(continuous!.choices);
  });
});

describe("the queue", () => {
  it("refuses what is too much to wait, and takes it when there is room again", async () => {
    const harness = new EngineHarness({ config: { maxNumSeqs: 2, maxQueueSize: 1 } });
    for (const id of ["a", "b", "c"]) harness.add(id, [1]);
    expect(() => harness.add("d", [1])).toThrow(expect.objectContaining({ code: "queue_full" }));
    expect(() => harness.add("d", [1], { n: 2 })).toThrow("at most 1 may wait");
    await harness.runToEnd();
    harness.add("d", [1]);
    await harness.runToEnd();
    expect(harness.choice("d").finishReason).toBe("length");
  });

  it("refuses for good what could not even wait in an idle engine", () => {
    const harness = new EngineHarness({ config: { maxNumSeqs: 2, maxQueueSize: 3 } });
    const refusal = { code: "invalid_value", param: "n", message: expect.stringContaining("6 sequences") };
    expect(() => harness.add("a", [1], { n: 6 })).toThrow(expect.objectContaining(refusal));
    harness.add("b", [1], { n: 5 });
    expect(harness.engine.stats().num_requests_waiting).toBe(5);
  });

  it("of size 0 still takes what can begin at once", () => {
    const harness = new EngineHarness({ config: { maxNumSeqs: 2, maxQueueSize: 0 } });
    harness.add("a", [1], { n: 2 });
    expect(() => harness.add("b", [1])).toThrow(expect.objectContaining({ code: "queue_full" }));
  });

  it("counts who can't begin, slots or no slots: behind another one, or beside a batch that runs", async () => {
    const full: unknown = expect.objectContaining({ code: "queue_full" });
    const sequential = new EngineHarness({ config: { batchingMode: "sequential", maxQueueSize: 1 } });
    for (const id of ["a", "b"]) sequential.add(id, [1]);
    expect(() => sequential.add("c", [1])).toThrow(full);

    const fixed = new EngineHarness({ config: { batchingMode: "static", maxQueueSize: 1 } });
    for (const id of ["a", "b", "c"]) fixed.add(id, [1]);
    await fixed.step();
    fixed.add("d", [1]);
    expect(() => fixed.add("e", [1])).toThrow(full);
  });
});

describe("a deadline", () => {
  it("ends a running request with what it has", async () => {
    const harness = new EngineHarness();
    harness.add("a", [1], { ...tokens(50), deadlineMs: 30 });
    harness.add("b", [1], tokens(50));
    await harness.runToEnd();
    const late = harness.choice("a");
    expect(late).toMatchObject({ finishReason: "abort", stopReason: "deadline" });
    expect(late.tokenIds.length).toBeGreaterThan(0);
    expect(late.tokenIds.length).toBeLessThan(50);
    expect(harness.choice("b").tokenIds).toHaveLength(50);
  });

  it("ends a request that waits, and one that waits for a batch to form", async () => {
    const busy = new EngineHarness({ config: { maxNumSeqs: 1 } });
    busy.add("a", [1], tokens(50));
    busy.add("b", [1], { deadlineMs: 20 });
    const forming = new EngineHarness({ config: { batchingMode: "static", batchWindowMs: 10_000 } });
    forming.add("b", [1], { deadlineMs: 20 });
    for (const harness of [busy, forming]) {
      await harness.runToEnd();
      expect(harness.choice("b")).toMatchObject({ tokenIds: [], finishReason: "abort", stopReason: "deadline" });
    }
  });

  it("that is met changes nothing", async () => {
    const harness = new EngineHarness();
    harness.add("a", [1], { deadlineMs: 10_000 });
    await harness.runToEnd();
    expect(harness.choice("a").finishReason).toBe("length");
  });
});

describe.each([true, false])("choices of one request (prefix caching: %s)", (enablePrefixCaching) => {
  const prompt = Array.from({ length: 11 }, (_, i) => i);
  const request = { params: samplingParams({ temperature: 1, maxTokens: 20, ignoreEos: true }), n: 4 };

  it("share the full blocks of the prompt, which are computed once", async () => {
    const harness = new EngineHarness({ config: { enablePrefixCaching, blockSize: 4 } });
    harness.add("a", prompt, request);
    await harness.step();
    // Eight tokens in two shared blocks; each choice has its own for the other three and what follows.
    await harness.step();
    expect(harness.steps.map(({ entries }) => entries.map(({ rows }) => rows))).toEqual([[11], [1, 3, 3, 3]]);
    expect(harness.engine.stats().num_gpu_blocks_free).toBe(2048 - 2 - 4);
    await harness.runToEnd();
    expect(harness.engine.stats()).toMatchObject({ num_gpu_blocks_free: 2048, prefix_cache_hits: 24 });
  });

  it("wait for a prompt that comes in pieces, and then share it; nobody else waits for them", async () => {
    const harness = new EngineHarness({
      config: { enablePrefixCaching, blockSize: 4, longPrefillTokenThreshold: 4 },
    });
    harness.add("a", prompt, request);
    harness.add("b", [1]);
    await harness.step();
    expect(harness.steps[0]?.entries.map(({ requestId, rows }) => [requestId, rows])).toEqual([
      ["a", 4],
      ["b", 1],
    ]);
    await harness.step();
    await harness.step();
    expect(
      harness.steps.slice(1).map(({ entries }) => entries.map(({ requestId, rows }) => [requestId, rows])),
    ).toEqual([
      [
        ["a", 4],
        ["b", 1],
      ],
      [
        ["a", 3],
        ["b", 1],
        ["a", 3],
        ["a", 3],
        ["a", 3],
      ],
    ]);
    await harness.runToEnd();
  });

  it("are each what they would be alone, also when the first is gone", async () => {
    const harness = new EngineHarness({
      config: { enablePrefixCaching, blockSize: 4, maxNumSeqs: 2, numGpuBlocks: 12, runAhead: 2 },
    });
    harness.add("a", prompt, request);
    await harness.runToEnd();
    for (let index = 0; index < 4; index++) {
      const alone = new EngineHarness();
      alone.add("a", prompt, { params: { ...request.params, seed: index } });
      await alone.runToEnd();
      expect(harness.choice("a", index)).toEqual(alone.choice("a"));
    }
  });
});

describe("streams", () => {
  it("get a token in every step, also behind a long prompt that is served before them", async () => {
    const config = { maxNumBatchedTokens: 16, maxModelLen: 512, maxNumSeqs: 8, schedulingPolicy: "priority" } as const;
    const harness = new EngineHarness({ config });
    for (let i = 0; i < 4; i++) harness.add(`stream ${i}`, [i], tokens(40));
    await harness.step();
    harness.add(
      "urgent",
      Array.from({ length: 200 }, (_, i) => i % 250),
      { ...tokens(2), priority: -1 },
    );
    await harness.runToEnd();
    const urgent = harness.steps.flatMap(({ entries }) => entries).filter(({ requestId }) => requestId === "urgent");
    // It comes first in the second step it is in, and gets all but the four rows that are kept back.
    expect(urgent[1]?.rows).toBe(12);
    for (let i = 0; i < 4; i++) {
      const sampled = harness.steps.filter(({ entries }) =>
        entries.some((entry) => entry.requestId === `stream ${i}` && entry.sampled),
      );
      expect(sampled.map(({ step }) => step)).toEqual(Array.from({ length: 40 }, (_, j) => j + 1));
    }
  });

  it("get a token in every step beside prompts of any length", async () => {
    const harness = new EngineHarness({ config: { maxNumBatchedTokens: 16, maxModelLen: 512, maxNumSeqs: 8 } });
    for (let i = 0; i < 4; i++) harness.add(`stream ${i}`, [i], tokens(60));
    await harness.step();
    for (let i = 0; i < 3; i++)
      harness.add(
        `prompt ${i}`,
        Array.from({ length: 200 }, (_, j) => j % 250),
        tokens(2),
      );
    await harness.runToEnd();
    for (let i = 0; i < 4; i++) {
      const steps = harness.steps.filter((step) =>
        step.entries.some((entry) => entry.requestId === `stream ${i}` && entry.sampled),
      );
      // Sixty tokens in sixty neighbouring steps, and no step has more rows than the budget.
      expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: 60 }, (_, j) => j + 1));
    }
    expect(Math.max(...harness.steps.map(({ rows }) => rows))).toBeLessThanOrEqual(16);
  });
});
