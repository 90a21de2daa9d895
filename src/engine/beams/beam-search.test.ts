// A beam search as the engine serves it: its reports, and what is left when it ends.
import { expect, it } from "vitest";
import { byteTokens, EngineHarness, EOS, samplingParams, samplingRunner } from "../../../tests/fakes/engine-harness.ts";
import type { Runner, TokenLogprob } from "../runner.ts";
import type { BeamSearchParams } from "../sampling/sampling-params.ts";

const search: BeamSearchParams = { numBeams: 2, lengthPenalty: 0, earlyStopping: false };

/** A runner whose candidates follow from the text so far; a beam's best first. */
function runnerOf(candidates: (text: string) => readonly (readonly [string | number, number])[]): Runner {
  const top = (tokens: readonly number[]): TokenLogprob[] =>
    candidates(String.fromCharCode(...tokens)).map(([token, logprob]) => ({
      tokenId: typeof token === "number" ? token : token.charCodeAt(0),
      logprob,
    }));
  return samplingRunner((sample, { histories }) => {
    if (sample.kind === "score") throw new Error("Beams score no prompts.");
    const history = histories.find(({ slot }) => slot === sample.slot)?.values ?? [];
    return { tokenId: 0, logprob: 0, top: top(history.slice(sample.promptLength)) };
  });
}

const twoLetters = runnerOf(() => [
  ["a", -1],
  ["b", -2],
  [EOS, -9],
]);

it("tells of each choice once: queued, its first token, its end; and gives the answers best first", async () => {
  const harness = new EngineHarness({ runner: twoLetters });
  harness.add("r", byteTokens("prompt"), { beamSearch: search, n: 2, params: samplingParams({ maxTokens: 3 }) });
  await harness.runToEnd();
  expect([harness.choice("r", 0), harness.choice("r", 1)]).toMatchObject([
    { text: "aaa", score: -3, finishReason: "length" },
    { text: expect.stringMatching(/^[ab]{3}$/), score: -4, finishReason: "length" },
  ]);
  const statuses = (index: number) => harness.requests.filter((one) => one.index === index).map(({ status }) => status);
  expect([statuses(0), statuses(1)]).toEqual(Array.from({ length: 2 }, () => ["queued", "first-token", "finished"]));
  const finished = harness.requests.find(({ status }) => status === "finished");
  expect(finished).toMatchObject({ outputTokens: 3, finishReason: "length", scheduledMs: expect.any(Number) });
  expect(harness.engine.stats()).toMatchObject({ generation_tokens_total: 6, request_success_total: { length: 2 } });
  // A round is statuses as one token, of the first choice.
  expect(harness.steps.map(({ sampledTokens }) => sampledTokens)).toEqual([1, 1, 1]);
  expect(harness.steps.flatMap(({ entries }) => entries).every(({ index }) => index === 0)).toBe(true);
  const ends = harness.steps.map(({ entries }) => entries.some(({ finishReason }) => finishReason !== null));
  expect(ends).toEqual([false, false, true]);
});

it("ends with end-of-text where that is best", async () => {
  const runner = runnerOf((text) =>
    text === ""
      ? [
          ["a", -1],
          ["b", -1.5],
          [EOS, -9],
        ]
      : [
          [EOS, -0.1],
          ["c", -7],
        ],
  );
  const harness = new EngineHarness({ runner });
  harness.add("r", byteTokens("p"), { beamSearch: search, n: 2 });
  await harness.runToEnd();
  expect([harness.choice("r", 0), harness.choice("r", 1)]).toMatchObject([
    { text: "a", tokenIds: [97, EOS], finishReason: "stop", score: -1.1 },
    { text: "b", tokenIds: [98, EOS], finishReason: "stop", score: -1.6 },
  ]);
});

it("cuts an answer at a stop string of the chat's format", async () => {
  const harness = new EngineHarness({ runner: twoLetters });
  const params = samplingParams({ maxTokens: 4, stop: ["aa"] });
  harness.add("r", byteTokens("p"), { beamSearch: search, params });
  await harness.runToEnd();
  expect(harness.choice("r")).toMatchObject({ text: "", tokenIds: [97, 97], finishReason: "stop", stopReason: "aa" });
});

it("says so where the rules leave fewer answers than choices", async () => {
  const harness = new EngineHarness({
    runner: runnerOf(() => [
      ["a", -1],
      ["b", -3.4e38],
      [EOS, -3.4e38],
    ]),
  });
  harness.add("r", byteTokens("p"), { beamSearch: search, n: 2, params: samplingParams({ maxTokens: 2 }) });
  await harness.runToEnd();
  expect([harness.choice("r", 0), harness.choice("r", 1)]).toMatchObject([
    { text: "aa", finishReason: "length" },
    { text: "", finishReason: "abort", stopReason: "no_candidates", score: null },
  ]);
});

it.each([0, 3])("frees everything when it is aborted or late, %d steps ahead", async (runAhead) => {
  for (const deadlineMs of [null, 20]) {
    const harness = new EngineHarness({ runner: twoLetters, config: { runAhead } });
    const params = samplingParams({ maxTokens: 100 });
    harness.add("r", byteTokens("prompt"), { beamSearch: search, n: 2, params, deadlineMs });
    for (let i = 0; i < 4; i++) await harness.step();
    expect(harness.engine.stats().num_gpu_blocks_free).toBeLessThan(harness.engine.stats().num_gpu_blocks);
    if (deadlineMs === null) harness.engine.abort("r");
    await harness.runToEnd();
    expect(harness.choice("r", 1)).toMatchObject({
      finishReason: "abort",
      stopReason: deadlineMs === null ? null : "deadline",
    });
    const { num_gpu_blocks, num_gpu_blocks_free } = harness.engine.stats();
    expect(num_gpu_blocks_free).toBe(num_gpu_blocks);
  }
});

it.each([
  [{ maxNumSeqs: 1 }, "invalid_value", "maxNumSeqs"],
  [{ numGpuBlocks: 4 }, "cache_capacity_exceeded", "may need 6 cache blocks"],
] as const)("refuses beams that can't all run: %j", (config, code, message) => {
  const harness = new EngineHarness({ config });
  const add = () => harness.add("r", byteTokens("p"), { beamSearch: search }); // 1 + 8 tokens in blocks of 4
  expect(add).toThrow(expect.objectContaining({ code, param: "best_of", message: expect.stringContaining(message) }));
});
