import { describe, expect, it } from "vitest";

import type { Recording } from "../../../recording/recording-format.ts";
import type { ChorusEngine } from "../../../protocol/engine.ts";
import type { CompletionRequest } from "../../../protocol/openai.ts";
import type { ModelCard } from "../../../protocol/reports.ts";
import { sampleRequest } from "../../../../tests/requests/sample-reports.ts";
import { FAKE_MODEL } from "../../../../tests/app/fake-model-card.ts";
import { RecordedRun } from "./recorded-run.ts";
import { changesSince, refusalOf, ReplayCheck } from "./replay-check.ts";

const CONFIG: Recording["config"] = {
  maxNumSeqs: 4,
  maxNumBatchedTokens: 64,
  maxModelLen: 512,
  runAhead: 2,
  enablePrefixCaching: true,
  schedulingPolicy: "fcfs",
  batchingMode: "continuous",
  cpuMath: "portable",
};

/** A run of one request, whose answer was these tokens. */
function runOf(tokenIds: readonly number[], finishReason: "stop" | "abort" | null = "stop"): RecordedRun {
  const body = { prompt: [1, 2], max_tokens: 10, seed: 3, min_tokens: 4, temperature: 0.5 };
  const recording: Recording = {
    version: 3,
    model: FAKE_MODEL,
    config: CONFIG,
    events: [
      { type: "request", ...sampleRequest("a") },
      { type: "asked", requestId: "a", question: "Hi", text: "user: Hi", body },
      { type: "answered", step: 1, answers: [{ requestId: "a", index: 0, tokenIds, text: "words" }] },
      ...(finishReason === null
        ? []
        : [{ type: "request" as const, ...sampleRequest("a", { status: "finished", finishReason }) }]),
    ],
  };
  return new RecordedRun(recording);
}

/** An engine that answers with these tokens, one a chunk, and notes what it was asked. */
function answering(tokenIds: readonly number[], requested: CompletionRequest[] = []) {
  const create = async (body: CompletionRequest) => {
    requested.push(body);
    return (async function* () {
      for (const id of tokenIds) yield { choices: [{ index: 0, token_ids: [id] }] };
    })();
  };
  return { completions: { create } } as unknown as Pick<ChorusEngine, "completions">;
}

async function compare(...[run, now]: [RecordedRun, readonly number[]]) {
  const again = new ReplayCheck(run);
  await again.start(answering(now));
  return again.store.getState().results.get("a/0");
}

describe("running again", () => {
  it("finds the same tokens the same", async () => {
    expect(await compare(runOf([5, 6, 7]), [5, 6, 7])).toEqual({ status: "done", numSame: 3, difference: null });
  });

  it.each<[what: string, recorded: number[], now: number[], token: number, then: number | null, is: number | null]>([
    ["another token", [5, 6, 7], [5, 9, 7], 1, 6, 9],
    ["an earlier end", [5, 6, 7], [5, 6], 2, 7, null],
    ["a later end", [5, 6], [5, 6, 7], 2, null, 7],
  ])("finds %s", async (_what, recorded, now, token, then, is) => {
    const difference = { token, recorded: then, now: is };
    expect(await compare(runOf(recorded), now)).toEqual({ status: "done", numSame: token, difference });
  });

  it("sends the recorded request, and of an answer that was stopped only as much as there was", async () => {
    const requested: CompletionRequest[] = [];
    await new ReplayCheck(runOf([5, 6, 7])).start(answering([5, 6, 7], requested));
    await new ReplayCheck(runOf([5, 6, 7], "abort")).start(answering([5, 6, 7], requested));
    const sent = { prompt: [1, 2], seed: 3, temperature: 0.5, stream: true, return_token_ids: true };
    expect(requested).toEqual([
      { ...sent, max_tokens: 10, min_tokens: 4 },
      { ...sent, max_tokens: 3, min_tokens: 3 },
    ]);
    expect(await compare(runOf([5, 6], null), [5, 6, 7])).toMatchObject({ difference: null });
  });

  it("leaves out what has no question or no answer", () => {
    expect(new ReplayCheck(runOf([])).numAnswers).toBe(0);
    const { recording } = runOf([5]);
    const events = recording.events.filter(({ type }) => type !== "asked");
    expect(new ReplayCheck(new RecordedRun({ ...recording, events })).numAnswers).toBe(0);
  });

  it("says why it failed, and can be stopped", async () => {
    const again = new ReplayCheck(runOf([5]));
    const refuse = async () => Promise.reject(new Error("queue full"));
    await again.start({ completions: { create: refuse } });
    expect(again.store.getState()).toMatchObject({ status: "failed", message: expect.stringContaining("queue full") });
    const endless = async () =>
      (async function* () {
        await new Promise(() => undefined);
        yield { choices: [] };
      })();
    void again.start({ completions: { create: endless } } as unknown as Pick<ChorusEngine, "completions">);
    again.stop();
    expect(again.store.getState().status).toBe("stopped");
  });
});

describe("who can run it again", () => {
  const card = (changes: Partial<ModelCard>) => ({ ...FAKE_MODEL, ...changes });

  it("the same model, whatever computes it", () => {
    expect(refusalOf(FAKE_MODEL, card({ dtype: "q4", adapter: "another" }))).toBeNull();
    expect(refusalOf(FAKE_MODEL, card({ name: "gpt2" }))).toMatch(/recorded with .* run gpt2\. Choose/);
    expect(refusalOf(FAKE_MODEL, card({ numLayers: 99 }))).not.toBeNull();
  });

  it("says what is not as it was", () => {
    expect(changesSince(FAKE_MODEL, FAKE_MODEL)).toBe("");
    const now = card({ dtype: "q4", adapter: "an M9" });
    expect(changesSince(FAKE_MODEL, now)).toBe(
      `weights in q4 instead of ${FAKE_MODEL.dtype}, an M9 instead of ${FAKE_MODEL.adapter}`,
    );
  });
});
