// A preempted sequence computes everything again, its own output included. Nobody outside may be able to tell, except
// by the clock and the count of preemptions.
import { describe, expect, it } from "vitest";
import { EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";

const TIGHT = { blockSize: 4, numGpuBlocks: 8, maxNumSeqs: 4, maxNumBatchedTokens: 8 };
const PROMPTS: Record<string, number[]> = { a: [1, 2, 3], b: [4, 5, 6, 7, 8], c: [9], d: [1, 2, 3, 4] };

async function run(config: Partial<typeof TIGHT>, ids: string[]) {
  const harness = new EngineHarness({ config });
  for (const id of ids) {
    const params = samplingParams({ maxTokens: 20, temperature: 1, seed: 5, ignoreEos: true });
    harness.add(id, PROMPTS[id]!, { params });
  }
  const steps = await harness.runToEnd(300);
  return { harness, steps };
}

describe("preemption", () => {
  it("changes neither tokens nor text", async () => {
    const { harness } = await run(TIGHT, ["a", "b", "c", "d"]);
    expect(harness.engine.stats().num_preemptions_total).toBeGreaterThan(2);
    for (const id of ["a", "b", "c", "d"]) {
      const { harness: alone } = await run({}, [id]);
      expect(alone.engine.stats().num_preemptions_total).toBe(0);
      expect(harness.choice(id)).toEqual(alone.choice(id));
    }
  });

  it("computes the output again as well as the prompt", async () => {
    const { harness } = await run(TIGHT, ["a", "b", "c", "d"]);
    const restarts = harness.steps.flatMap((step) => step.entries).filter((entry) => entry.start === 0);
    expect(restarts.some((entry) => entry.rows > entry.promptRows)).toBe(true);
  });

  it("counts each prompt token once, however often it is computed", async () => {
    const { harness } = await run(TIGHT, ["a", "b", "c", "d"]);
    expect(harness.engine.stats()).toMatchObject({ prompt_tokens_total: 13, generation_tokens_total: 80 });
    const computed = harness.steps.reduce((sum, step) => sum + step.promptRows, 0);
    expect(computed).toBeGreaterThan(13);
  });

  it("reports one first token a sequence, and leaves its time alone", async () => {
    const { harness } = await run(TIGHT, ["a", "b", "c", "d"]);
    for (const id of ["a", "b", "c", "d"]) {
      const [, first, finished, ...rest] = harness.requests.filter((report) => report.requestId === id);
      expect(rest).toEqual([]);
      expect(finished?.firstTokenMs).toBe(first?.firstTokenMs);
      expect(finished?.scheduledMs).toBe(first?.scheduledMs);
    }
  });

  it("does not turn into a ping-pong: two that don't fit together run one after the other", async () => {
    const prompts = Object.fromEntries(["a", "b"].map((id) => [id, Array.from({ length: 14 }, (_, i) => i)]));
    const harness = new EngineHarness({ config: { ...TIGHT, maxNumBatchedTokens: 4 } });
    for (const [id, prompt] of Object.entries(prompts)) {
      harness.add(id, prompt, { params: samplingParams({ maxTokens: 18, ignoreEos: true }) });
    }
    await harness.runToEnd(200);
    // b runs beside a while there is room, is preempted once, and comes back when a is done.
    expect(harness.engine.stats().num_preemptions_total).toBe(1);
  });

  it("always spares the oldest, so that each sequence ends in the order of its arrival", async () => {
    const { harness } = await run(TIGHT, ["a", "b", "c", "d"]);
    const ended = harness.requests.filter((report) => report.status === "finished").map((report) => report.requestId);
    expect(ended).toEqual(["a", "b", "c", "d"]);
  });

  it("of a choice finds what it had said in the cache, and not its prompt alone, while the first choice runs", async () => {
    const config = { enablePrefixCaching: true, blockSize: 4, numGpuBlocks: 19, maxNumSeqs: 4 };
    const harness = new EngineHarness({ config });
    const params = (maxTokens: number) => samplingParams({ temperature: 1, maxTokens, ignoreEos: true });
    harness.add("other", [1], { params: params(27) });
    harness.add("a", [5, 6, 7, 8, 9], { params: params(50), n: 2 });
    await harness.runToEnd();
    const resumed = harness.steps
      .filter(({ preemptionsTotal }) => preemptionsTotal > 0)
      .flatMap(({ entries }) => entries.filter(({ index, rows }) => index === 1 && rows > 1));
    expect(resumed.length).toBeGreaterThan(0);
    // The prompt has one full block.
    for (const { cachedTokens } of resumed) expect(cachedTokens).toBeGreaterThan(4);
  });
});
