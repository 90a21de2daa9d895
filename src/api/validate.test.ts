import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChorusError } from "../protocol/errors.ts";
import { loadChorusTokenizer, requestContext } from "../../tests/requests/request-context.ts";
import { parseChatRequest } from "./chat-request.ts";
import { parseCompletionRequest } from "./completion-request.ts";
import { GENERATION_FIELDS } from "./generation-fields.ts";
import { nearestName } from "./nearest-name.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import { UNSUPPORTED_FIELDS } from "./unsupported-fields.ts";
import { Fields, quote } from "./validate.ts";

test.each([
  ["max_token", "max_tokens"],
  ["maxTokens", "max_tokens"],
  ["TOP_P", "top_p"],
  ["temprature", "temperature"],
  ["N", "n"],
  ["m", undefined],
  ["frobnicate", undefined],
  ["", undefined],
])("the nearest name of %s is %s", (given, name) => {
  expect(nearestName(given, ["temperature", "top_p", "top_k", "max_tokens", "n"])).toBe(name);
});

test("a name as long as a book has none near", () => {
  expect(nearestName("n".repeat(1e6), ["n"])).toBeUndefined();
});

test("a value is quoted in brief, whatever it is", () => {
  const circular: unknown[] = [];
  circular.push(circular);
  const values = ["a\n", "x".repeat(50), 1n, NaN, null, [], circular, {}, () => 1, Symbol("s")];
  expect(values.map(quote)).toEqual([
    '"a\\n"',
    `"${"x".repeat(40)}..."`,
    "1",
    "NaN",
    "null",
    "an empty list",
    "a list",
    "an object",
    "a function",
    "a symbol",
  ]);
});

test.each([
  [{ min: 16, max: 16 }, "blockSize must be 16, not 8."],
  [{ min: 16, max: 32 }, "blockSize must be between 16 and 32, not 8."],
  [{ min: 8, max: 9, above: true }, "blockSize must be above 8 and at most 9, not 8."],
  [{ min: 9, max: Infinity }, "blockSize must be at least 9, not 8."],
])("an error for a value beyond %j says what would do", (range, message) => {
  expect(() => new Fields({ blockSize: 8 }).integer("blockSize", range)).toThrow(message);
});

describe("whatever is given, a request is parsed or refused with a ChorusError", async () => {
  const tokenizer = await loadChorusTokenizer();
  const context = requestContext(tokenizer);

  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>(
      undefined,
      NaN,
      Infinity,
      -1,
      0,
      1,
      2 ** 53,
      1e300,
      "",
      5n,
      () => 0,
      new Map(),
      new Date(0),
    ),
    fc.integer(),
    fc.double(),
  );
  const mostly = <T>(sound: fc.Arbitrary<T>) =>
    fc.oneof({ arbitrary: sound, weight: 9 }, { arbitrary: odd, weight: 1 });
  const message = fc.record(
    {
      role: mostly(fc.constantFrom("system", "user", "assistant")),
      content: mostly(fc.string()),
      name: mostly(fc.string()),
    },
    { requiredKeys: ["role", "content"] },
  );
  const good = {
    messages: fc.array(message, { minLength: 1, maxLength: 2 }),
    prompt: mostly(
      fc.oneof(fc.string(), fc.array(fc.nat(4095)), fc.array(fc.string()), fc.array(fc.array(fc.nat(5000)))),
    ),
    max_tokens: mostly(fc.integer({ min: 0, max: 100 })),
    temperature: mostly(fc.double({ min: 0, max: 2.1, noNaN: true })),
    stop: mostly(fc.oneof(fc.string({ minLength: 1 }), fc.array(fc.string()))),
    seed: mostly(fc.maxSafeInteger()),
  };
  const names = [
    ...GENERATION_FIELDS,
    ...UNSUPPORTED_FIELDS,
    "logprobs",
    "max_tokens",
    "__proto__",
    "constructor",
    "toString",
  ];
  const body = fc
    .tuple(
      fc.record(good, { requiredKeys: ["messages", "prompt"] }),
      fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string()), odd), { maxLength: 1 }),
    )
    .map(([sound, changes]) => Object.fromEntries([...Object.entries(sound), ...changes]));

  function isSound(parse: () => ParsedRequest): boolean {
    let request: ParsedRequest;
    try {
      request = parse();
    } catch (error) {
      return error instanceof ChorusError && error.code !== "internal_error" && error.message.length < 1000;
    }
    return request.prompts.every(({ tokenIds, params }) => {
      const fits = tokenIds.length > 0 && tokenIds.length + params.maxTokens <= 256 && params.maxTokens >= 1;
      const seeded = Number.isSafeInteger(params.seed);
      const sampled = params.temperature >= 0 && params.topP > 0 && params.topP <= 1 && params.topK >= 0;
      return fits && seeded && sampled && params.stop.every((stop) => stop !== "");
    });
  }

  test("for chats", () => {
    let parsed = 0;
    fc.assert(
      fc.property(body, (given) => {
        const { prompt: _, ...chat } = given;
        return isSound(() => {
          const request = parseChatRequest(chat, context);
          parsed++;
          return request;
        });
      }),
      { numRuns: 1000 },
    );
    expect(parsed).toBeGreaterThan(30);
  });

  test("for completions", () => {
    let parsed = 0;
    fc.assert(
      fc.property(body, (given) => {
        const { messages: _, ...completion } = given;
        return isSound(() => {
          const request = parseCompletionRequest(completion, context);
          parsed++;
          return request;
        });
      }),
      { numRuns: 1000 },
    );
    expect(parsed).toBeGreaterThan(30);
  });

  test("for what is no object at all", () => {
    fc.assert(
      fc.property(
        odd,
        (given) =>
          isSound(() => parseChatRequest(given, context)) && isSound(() => parseCompletionRequest(given, context)),
      ),
    );
  });
});
