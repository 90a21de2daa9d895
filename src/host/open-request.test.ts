import fc from "fast-check";
import { expect, test } from "vitest";
import { ChunkWriter } from "../api/chunks.ts";
import { ChunkStream, RequestEvents } from "../client/request-events.ts";
import type { Completion } from "../protocol/openai.ts";
import type { Chunk } from "../protocol/service.ts";
import { ending, going, names, params, request } from "../../tests/requests/sample-answers.ts";
import { OpenRequest } from "./open-request.ts";

const scores = [{ tokenId: 1, logprob: -0.25 }];
const prompt = { params: { ...params, maxTokens: 1, promptLogprobs: 0 }, tokenIds: [2, 1], param: "prompt" };
const logprobs = { tokens: ["aa", "a"], token_logprobs: [null, -0.25], top_logprobs: null, text_offset: [0, 2] };
const usage = { prompt_tokens: 2, completion_tokens: 0, total_tokens: 2, prompt_tokens_details: { cached_tokens: 0 } };

const outputs = fc.array(
  fc.record({
    choice: fc.nat({ max: 1 }),
    text: fc.string({ maxLength: 3 }),
    reasoning: fc.oneof(fc.constant(""), fc.string({ maxLength: 3 })),
    tokenIds: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  }),
  { maxLength: 12 },
);
const streamed = fc.record({
  endpoint: fc.constantFrom("chat.completions", "completions"),
  returnTokenIds: fc.boolean(),
  wantLogprobs: fc.boolean(),
  includeUsage: fc.boolean(),
});

test("where only text crosses, the reader has the chunks that would have crossed whole", async () => {
  const crossed = { text: 0, chunk: 0 };
  await fc.assert(
    fc.asyncProperty(streamed, outputs, async (fields, given) => {
      const parsed = request({ ...fields, stream: true, n: 2, requestId: "r" });
      const open = new OpenRequest(1, parsed, "m", names);
      const [requestId = ""] = open.engineRequestIds;
      const all = given.map(
        ({ choice, text, reasoning, tokenIds }) => [choice, { ...going(text, ...tokenIds), reasoning }] as const,
      );
      all.push([0, ending("", 1)], [1, ending("", 1)]);
      const events = all.flatMap(([index, output]) => open.take({ ...output, requestId, index, error: null }));
      const read = new RequestEvents();
      for (const event of events) read.push(event);
      for (const { type } of events) if (type === "text" || type === "chunk") crossed[type] += 1;
      const chunks: Chunk[] = [];
      for await (const chunk of new ChunkStream(read, () => undefined)) chunks.push(chunk);
      const created = chunks[0]?.created ?? 0;
      const writer = new ChunkWriter(parsed, { id: requestId, created, model: "m" }, names);
      const whole = writer.end(
        all.flatMap(([choice, output]) => writer.write(choice, output)),
        null,
      );
      expect(JSON.stringify(chunks)).toBe(JSON.stringify(whole));
    }),
  );
  expect(crossed.text).toBeGreaterThan(0);
  expect(crossed.chunk).toBeGreaterThan(0);
});

/** Returns the answer to a request that wants only its prompt scored. */
function answered(stream: boolean, output = ending("aaa", 3)): Completion[] {
  const parsed = request({
    endpoint: "completions",
    stream,
    includeUsage: true,
    returnTokenIds: true,
    wantLogprobs: true,
    echo: true,
    isPromptOnly: true,
    prompts: [prompt],
  });
  const open = new OpenRequest(1, parsed, "m", names);
  const [requestId = ""] = open.engineRequestIds;
  return open
    .take({ ...output, promptScores: scores, requestId, index: 0, error: null })
    .flatMap((event) => (event.type === "chunk" ? event.chunk : event.type === "response" ? event.response : []))
    .map((part) => part as Completion);
}

test("an answer of the prompt alone omits the token drawn after it, whole or streamed", () => {
  const choice = { text: "aaa", logprobs, finish_reason: "length", stop_reason: null, token_ids: [] };
  expect(answered(false)).toMatchObject([{ choices: [choice], usage }]);
  expect(answered(true)).toMatchObject([{ choices: [choice] }, { choices: [], usage }]);
});

test("an aborted one has finish_reason abort", () => {
  const aborted = { ...going(""), finishReason: "abort" as const };
  expect(answered(false, aborted)[0]?.choices[0]?.finish_reason).toBe("abort");
});

test("a broken model is an error, whole or streamed, and the request's last event", () => {
  for (const stream of [true, false]) {
    const open = new OpenRequest(1, request({ stream, prompts: [prompt, prompt] }), "m", names);
    const [, second = ""] = open.engineRequestIds;
    const error = { code: "model_numerics", message: "It is broken.", param: null } as const;
    const output = { ...going(""), finishReason: "abort", stopReason: error.code, error } as const;
    const events = open.take({ ...output, requestId: second, index: 0 });
    expect(events).toMatchObject([{ type: "error", ticket: 1, error }]);
    expect(open.isFinished).toBe(true);
  }
});
