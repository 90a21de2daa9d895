// A real host, scheduler and API on a fake runner: what was recorded is read, played, and computed again.

import { expect, it } from "vitest";

import { BlockLedger } from "../../../recording/block-ledger.ts";
import { readRecording } from "../../../recording/read-recording.ts";
import { recordRun } from "../../../recording/recording.ts";
import type { Recording } from "../../../recording/recording-format.ts";
import type { ChatCompletionRequest } from "../../../protocol/openai.ts";
import { openFakeModel } from "../../../../tests/fakes/fake-model.ts";
import { RecordedRun, tokensOfSequence } from "./recorded-run.ts";
import { ReplayCheck } from "./replay-check.ts";

const REQUESTS: readonly Omit<ChatCompletionRequest, "messages" | "stream">[] = [
  { max_tokens: 8, temperature: 1 }, // a seed is drawn for it
  { max_tokens: 8, seed: -3, n: 2 },
  { max_tokens: 6, logit_bias: { 40: 5 }, min_tokens: 2, stop_token_ids: [3] },
  { max_tokens: 6, bad_words: ["sea"], repetition_penalty: 1.3 },
  { max_tokens: 4, use_beam_search: true, best_of: 3, n: 2, length_penalty: 0 },
];

/** Asks all of it at once, aborts the last one, and returns the recording with each answer as it was told. */
async function record(config: Parameters<typeof openFakeModel>[0] = {}) {
  const { engine } = await openFakeModel({ seed: 7, maxNumSeqs: 4, ...config });
  const recorder = recordRun(engine);
  const answers = await Promise.all(
    REQUESTS.map(async (fields, i) => {
      const messages = [{ role: "user" as const, content: `Question ${i}?` }];
      const request = { ...fields, messages, request_id: `r${i}`, return_token_ids: true };
      return (await engine.chat.completions.create(request)).choices;
    }),
  );
  return { engine, recording: readRecording(recorder.stop()), answers };
}

it("holds the words of every answer, and what it takes to compute it again", async () => {
  const { recording, answers } = await record();
  const { sequences } = new RecordedRun(recording);
  for (const [i, choices] of answers.entries()) {
    for (const { index, message, token_ids: tokenIds } of choices) {
      const sequence = sequences.find((one) => one.requestId === `chatcmpl-r${i}` && one.index === index);
      expect(sequence?.requested).toMatchObject({ question: `Question ${i}?` });
      expect(sequence?.requested?.text).toContain(`Question ${i}?`);
      expect(sequence && tokensOfSequence(sequence)).toEqual(tokenIds);
      expect(sequence?.pieces.map(({ text }) => text).join("")).toBe(message.content);
      expect(sequence?.end).not.toBeNull();
    }
  }
  const bodies = recording.events.flatMap((event) => (event.type === "asked" ? [event.body] : []));
  const drawn: unknown = expect.any(Number);
  expect(bodies.map(({ seed }) => seed)).toEqual([drawn, -3, drawn, drawn, undefined]);
  expect(bodies[3]).toMatchObject({ bad_words: ["sea"], repetition_penalty: 1.3 });
  expect(bodies[4]).toMatchObject({ use_beam_search: true, best_of: 3, n: 2, length_penalty: 0 });
});

it.each([
  ["in the same engine", {}],
  ["in other batches, without run-ahead and prefix cache", { maxNumSeqs: 3, runAhead: 0, enablePrefixCaching: false }],
] as const)("computed again, every token is the same, %s", async (_what, config) => {
  const { recording } = await record();
  const { engine } = await openFakeModel({ seed: 99, maxNumSeqs: 4, ...config });
  const again = new ReplayCheck(new RecordedRun(recording));
  expect(again.numAnswers).toBe(7);
  await again.start(engine);
  const { status, message, results } = again.store.getState();
  const numDone = [...results.values()].filter((result) => result.status === "done").length;
  expect([status, message, numDone]).toEqual(["done", "", 7]);
  expect([...results.values()].filter(({ difference }) => difference !== null)).toEqual([]);
});

it("marks the first token that differs", async () => {
  const { engine, recording } = await record();
  let changed = 0;
  const events = recording.events.map((event): Recording["events"][number] => {
    if (event.type !== "answered" || !event.answers.some(({ requestId }) => requestId === "chatcmpl-r0")) return event;
    if (changed++ !== 3) return event; // its fourth token
    const answers = event.answers.map((answer) =>
      answer.requestId === "chatcmpl-r0" ? { ...answer, tokenIds: [answer.tokenIds[0] === 1 ? 2 : 1] } : answer,
    );
    return { ...event, answers };
  });
  const again = new ReplayCheck(new RecordedRun({ ...recording, events }));
  await again.start(engine);
  const { results } = again.store.getState();
  expect(results.get("chatcmpl-r0/0")?.difference).toMatchObject({ token: 3 });
  expect([...results.values()].filter(({ difference }) => difference !== null)).toHaveLength(1);
});

it("tells no words, and computes none, while nobody listens", async () => {
  const { engine } = await openFakeModel();
  const lines: string[] = [];
  engine.on("request", (report) => lines.push(JSON.stringify(report)));
  engine.on("step", (report) => lines.push(JSON.stringify(report)));
  await engine.chat.completions.create({ messages: [{ role: "user", content: "A secret" }], max_tokens: 4 });
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.join("\n")).not.toContain("secret");
});

it("gives the blocks of every step: all are free at the end", async () => {
  const { recording, engine } = await record();
  const ledger = new BlockLedger(recording.model, true);
  let most = 0;
  for (const event of recording.events) {
    if (event.type === "step") ledger.addStep(event);
    if (event.type === "request") ledger.addRequest(event);
    most = Math.max(most, ledger.map().refCounts.filter((count) => count > 0).length);
  }
  expect(most).toBeGreaterThan(3);
  expect(ledger.map().refCounts.every((count) => count === 0)).toBe(true);
  expect((await engine.stats()).kv_cache_usage_perc).toBe(0);
});
