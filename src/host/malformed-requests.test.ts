// 1,000 malformed requests among good ones: each gets its error, and the good ones get the same answers as without them.

import fc from "fast-check";
import { expect, test } from "vitest";
import { parseChatRequest } from "../api/chat-request.ts";
import { parseCompletionRequest } from "../api/completion-request.ts";
import { UNSUPPORTED_FIELDS } from "../api/unsupported-fields.ts";
import { ChorusError, type ChorusErrorCode } from "../protocol/errors.ts";
import type { ChatCompletionRequest, CompletionRequest } from "../protocol/openai.ts";
import type { GenerationRequest } from "../protocol/service.ts";
import { anyText } from "../../tests/any-text.ts";
import { EngineHarness, type Collected } from "../../tests/fakes/engine-harness.ts";
import type { FieldCase } from "../../tests/requests/field-case.ts";
import { CHAT_CASES, COMPLETION_CASES, refusalsOf } from "../../tests/requests/field-cases.ts";
import { kindOf } from "../../tests/requests/odd-values.ts";
import { loadChorusTokenizer, requestContext } from "../../tests/requests/request-context.ts";
import { OpenRequest } from "./open-request.ts";

const tokenizer = await loadChorusTokenizer();
const VOCABULARY = Array.from({ length: 4096 }, (_, id) => tokenizer.tokenBytes(id));
/** Too few blocks for all requests, so that some are preempted. */
const LIMITS = { maxModelLen: 256, blockSize: 16, numGpuBlocks: 18 };
const NUM_TURNS = 60;

/** The malformed requests cause all of these codes, and no others. */
const CODES: readonly ChorusErrorCode[] = [
  "missing_required_parameter",
  "unknown_parameter",
  "unsupported_parameter",
  "invalid_type",
  "invalid_value",
  "context_length_exceeded",
  "model_not_found",
];

/** A request and its turn. */
interface Arrival {
  readonly turn: number;
  readonly request: { readonly endpoint: GenerationRequest["endpoint"]; readonly body: unknown };
}

const chat = (turn: number, changes: Partial<ChatCompletionRequest>): Arrival => ({
  turn,
  request: {
    endpoint: "chat.completions",
    body: { messages: [{ role: "user", content: "Tell me a joke" }], max_tokens: 40, ...changes },
  },
});
const completion = (turn: number, changes: Partial<CompletionRequest>): Arrival => ({
  turn,
  request: { endpoint: "completions", body: { prompt: "Once upon a time", max_tokens: 40, ...changes } },
});

/** Some have no seed: the one they get must not depend on the number of refused requests before them. */
const GOOD: readonly Arrival[] = [
  chat(0, {}),
  chat(0, { temperature: 0, n: 3 }),
  completion(2, { seed: 11, stream: true }),
  completion(5, { prompt: ["One", "Two", "Three"] }),
  chat(9, { stop: ["e"], stop_token_ids: [7], priority: 3 }),
  completion(14, { prompt: Array.from({ length: 90 }, (_, i) => i + 10), cache_salt: "mine" }),
  chat(20, { n: 2, ignore_eos: true, logprobs: true }),
  completion(30, { temperature: 0, max_tokens: 100 }),
  chat(NUM_TURNS - 1, {}),
];

const anything = fc.anything({
  maxDepth: 2,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});
const something = anything.filter((value) => value !== null && value !== undefined);

/** Generates a good body with one bad field, or a value that is no body at all. */
function malformed(good: object, required: string, cases: Readonly<Record<string, FieldCase>>): fc.Arbitrary<unknown> {
  const fields = fc.constantFrom(...Object.entries(cases));
  const known = new Set([...Object.keys(cases), ...UNSUPPORTED_FIELDS]);
  const isUnknown = (name: string) => !known.has(name);
  // Also picks by code, since most refusals have the same few codes.
  const allRefusals = Object.entries(cases).flatMap(([name, field]) =>
    refusalsOf(name, field).map(({ code, value }) => ({ code, change: { [name]: value } })),
  );
  const ofEachCode = [...new Set(allRefusals.map(({ code }) => code))].map((code) =>
    fc.constantFrom(...allRefusals.filter((one) => one.code === code)).map(({ change }) => change),
  );
  const change = fc.oneof(
    fc.oneof(...ofEachCode),
    fields.chain(([name, field]) =>
      fc.record({ [name]: fc.constantFrom(...refusalsOf(name, field).map((r) => r.value)) }),
    ),
    fields.chain(([name, field]) =>
      fc.record({ [name]: something.filter((value) => !field.kinds.includes(kindOf(value))) }),
    ),
    fc.dictionary(anyText(10).filter(isUnknown), something, { minKeys: 1 }),
    fc.dictionary(fc.constantFrom("maxTokens", "__proto__", "constructor", "temprature"), something, { minKeys: 1 }),
    fc.dictionary(fc.constantFrom(...UNSUPPORTED_FIELDS), fc.constant(17), { minKeys: 1 }),
    fc.constant({ [required]: undefined }),
  );
  const noBody = anything.filter((value) => value === null || value === undefined || kindOf(value) !== "object");
  return fc.oneof(
    { arbitrary: change.map((bad) => ({ ...good, ...bad })), weight: 9 },
    { arbitrary: noBody, weight: 1 },
  );
}

const badRequest = fc.oneof(
  fc.record({
    endpoint: fc.constant("chat.completions" as const),
    body: malformed({ messages: [{ role: "user", content: "Hi" }] }, "messages", CHAT_CASES),
  }),
  fc.record({
    endpoint: fc.constant("completions" as const),
    body: malformed({ prompt: "Hi" }, "prompt", COMPLETION_CASES),
  }),
);
const badArrival: fc.Arbitrary<Arrival> = fc.record({ turn: fc.nat(NUM_TURNS - 1), request: badRequest });

/** Plays the host: in each turn parses the arriving requests, adds them to the engine, collects errors, runs a step. */
async function serve(arrivals: readonly Arrival[]) {
  const harness = new EngineHarness({
    config: { ...LIMITS, maxNumSeqs: 6, maxNumBatchedTokens: 32, runAhead: 2, enablePrefixCaching: true },
    vocabulary: VOCABULARY,
  });
  const context = requestContext(tokenizer, { limits: LIMITS });
  const answers: Collected[] = [];
  const errors: unknown[] = [];
  const submit = ({ endpoint, body }: Arrival["request"]) => {
    const parse = endpoint === "chat.completions" ? parseChatRequest : parseCompletionRequest;
    try {
      const open = new OpenRequest(answers.length, parse(structuredClone(body), context), "chorus-chat", tokenizer);
      for (const request of open.engineRequests()) {
        harness.engine.add(request);
        for (let index = 0; index < request.n; index++) answers.push(harness.choice(request.requestId, index));
      }
    } catch (error) {
      errors.push(error);
    }
  };

  for (let turn = 0; turn < NUM_TURNS; turn++) {
    for (const arrival of arrivals) if (arrival.turn === turn) submit(arrival.request);
    await harness.step();
  }
  await harness.runToEnd();
  return { answers, errors, stats: harness.engine.stats() };
}

test.each([1, 2, 3])("1,000 malformed requests change nothing for good ones among them (seed %i)", async (seed) => {
  const bad = fc.sample(badArrival, { numRuns: 1000, seed });
  const alone = await serve(GOOD);
  const among = await serve([...bad.slice(0, 500), ...GOOD, ...bad.slice(500)]);

  expect(alone.errors).toEqual([]);
  expect(alone.answers).toHaveLength(14);
  expect(alone.answers.every(({ tokenIds }) => tokenIds.length > 0)).toBe(true);
  expect(alone.stats.num_preemptions_total).toBeGreaterThan(0);

  expect(among.answers).toEqual(alone.answers);
  expect(among.errors).toHaveLength(1000);
  expect(among.errors.filter((error) => !(error instanceof ChorusError))).toEqual([]);
  expect(new Set(among.errors.map((error) => (error as ChorusError).code))).toEqual(new Set(CODES));
  expect(among.stats).toEqual(alone.stats);
  expect(among.stats.num_gpu_blocks_free).toBe(LIMITS.numGpuBlocks);
});
