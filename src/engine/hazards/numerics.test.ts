// Weights that are no numbers, or overflow: the logits are NaN then, and so is every log-probability.

import { expect, test } from "vitest";

import { EngineHarness, samplingParams, samplingRunner } from "../../../tests/fakes/engine-harness.ts";
import { LOWEST_LOGPROB } from "../sampling/sampling-params.ts";

/** The request with seed 7 gets no numbers from its third token on; all scores are none if `scores` says so. */
const brokenRunner = (logprob: number, scores = -1) =>
  samplingRunner((sample) => {
    if (sample.kind === "score") return { tokenId: sample.tokenId, logprob: scores, rank: 1 };
    const isBroken = sample.params.seed >= 7 && sample.outputIndex >= 2;
    const tokenId = isBroken ? 0 : 65;
    return { tokenId, logprob: isBroken ? logprob : -1, top: [{ tokenId, logprob: isBroken ? logprob : -1 }] };
  });

test.each([NaN, Infinity, -Infinity, LOWEST_LOGPROB])(
  "a draw of log-probability %s ends its request alone",
  async (logprob) => {
    const harness = new EngineHarness({ config: { runAhead: 2 }, runner: brokenRunner(logprob) });
    harness.add("good", [1]);
    harness.add("bad", [1], { n: 2, params: samplingParams({ seed: 7 }) });
    await harness.runToEnd();
    expect(harness.choice("good")).toMatchObject({ text: "AAAAAAAA", finishReason: "length" });
    for (const index of [0, 1]) {
      expect(harness.choice("bad", index)).toMatchObject({
        text: "AA",
        finishReason: "abort",
        stopReason: "model_numerics",
      });
    }
    harness.add("later", [1]);
    await harness.runToEnd();
    expect(harness.choice("later").finishReason).toBe("length");
    expect(harness.engine.stats().num_gpu_blocks_free).toBe(2048);
  },
);

test("a beam search and a prompt's scores end so, too", async () => {
  const harness = new EngineHarness({ runner: brokenRunner(NaN, NaN) });
  const beamSearch = { numBeams: 2, lengthPenalty: 1, earlyStopping: false };
  harness.add("beams", [1], { beamSearch, params: samplingParams({ seed: 7 }) });
  harness.add("scored", [1, 2, 3], { params: samplingParams({ promptLogprobs: 0 }) });
  await harness.runToEnd();
  for (const id of ["beams", "scored"]) expect(harness.choice(id).stopReason).toBe("model_numerics");
});

test("a draw from nothing is no broken model where rules have forbidden everything", async () => {
  const harness = new EngineHarness({ runner: brokenRunner(LOWEST_LOGPROB) });
  harness.add("ruled", [1], { params: samplingParams({ seed: 7, allowedTokenIds: [] }) });
  await harness.runToEnd();
  expect(harness.choice("ruled").finishReason).toBe("length");
});
