import { describe, expect, test } from "vitest";
import { loadTokenizer } from "../files/tokenizer.ts";
import { loadChorusTokenizer, openFolder, requestContext } from "../../tests/requests/request-context.ts";
import { NO_RULES } from "../engine/sampling/logit-rules.ts";
import { NO_FILTERS } from "../engine/sampling/sampling-params.ts";
import { createChatFormat } from "./chat-format.ts";
import { parseChatRequest } from "./chat-request.ts";
import type { RequestContext } from "./parsed-request.ts";

const tokenizer = await loadChorusTokenizer();
const messages = [{ role: "user", content: "Hi there!" }];
const parse = (body: object, changes: Partial<RequestContext> = {}) =>
  parseChatRequest({ messages, ...body }, requestContext(tokenizer, changes));
const paramsOf = (body: object, changes?: Partial<RequestContext>) => parse(body, changes).prompts[0]!.params;
const promptLength = createChatFormat(tokenizer).open([{ role: "user", content: "Hi there!" }]).tokenIds.length;

describe("parseChatRequest", () => {
  test("decides everything that a request leaves open", () => {
    expect(parse({})).toEqual({
      endpoint: "chat.completions",
      prompts: [
        {
          param: "messages",
          tokenIds: createChatFormat(tokenizer).open([{ role: "user", content: "Hi there!" }]).tokenIds,
          params: {
            ...NO_RULES,
            ...NO_FILTERS,
            topLogprobs: 0,
            promptLogprobs: null,
            temperature: 0.6,
            topK: 30,
            topP: 0.9,
            seed: 1000,
            maxTokens: 256 - promptLength,
            stop: [],
            stopTokenIds: [],
            includeStopStrInOutput: false,
            ignoreEos: false,
          },
        },
      ],
      n: 1,
      beamSearch: null,
      structure: null,
      calls: null,
      stream: false,
      includeUsage: false,
      returnTokenIds: false,
      namesTokensById: false,
      includeMetrics: false,
      wantLogprobs: false,
      reasoning: { state: "none", written: "" },
      promptLogprobs: null,
      echo: false,
      isPromptOnly: false,
      priority: 0,
      requestId: null,
      cacheSalt: null,
      deadlineMs: null,
    });
  });

  test("takes every field that it supports", () => {
    const parsed = parse({
      model: "chorus-chat",
      temperature: 2,
      top_p: 0.5,
      top_k: 7,
      n: 3,
      seed: 42,
      stop: ["a", "b"],
      stop_token_ids: [0, 4095],
      include_stop_str_in_output: true,
      ignore_eos: true,
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
      return_token_ids: true,
      logprobs: true,
      top_logprobs: 4,
      min_p: 0.1,
      typical_p: 0.8,
      repetition_penalty: 1.2,
      presence_penalty: -1,
      frequency_penalty: 0.5,
      no_repeat_ngram_size: 3,
      logit_bias: { 17: -100, 4000: 2.5 },
      bad_words: ["cat"],
      min_tokens: 2,
      allowed_token_ids: [1, 2],
      max_tokens: 10,
      max_completion_tokens: 10,
      priority: -3,
      cache_salt: "theirs",
      deadline_ms: 2500.5,
      user: "somebody",
    });
    expect(parsed).toMatchObject({ n: 3, stream: true, includeUsage: true, returnTokenIds: true, wantLogprobs: true });
    expect(parsed).toMatchObject({ priority: -3, cacheSalt: "theirs", deadlineMs: 2500.5 });
    expect(parsed.prompts[0]!.params).toEqual({
      topLogprobs: 4,
      promptLogprobs: null,
      minP: 0.1,
      typicalP: 0.8,
      repetitionPenalty: 1.2,
      presencePenalty: -1,
      frequencyPenalty: 0.5,
      noRepeatNgramSize: 3,
      logitBias: [
        [17, -100],
        [4000, 2.5],
      ],
      badWords: [tokenizer.encode("cat"), tokenizer.encode(" cat")],
      minTokens: 2,
      endTokenIds: [0, 4095], // ignore_eos: the request's own alone
      allowedTokenIds: [1, 2],
      temperature: 2,
      topK: 7,
      topP: 0.5,
      seed: 42,
      maxTokens: 10,
      stop: ["a", "b"],
      stopTokenIds: [0, 4095],
      includeStopStrInOutput: true,
      ignoreEos: true,
    });
  });

  test("continues an answer from its tokens, which another text could not become again", () => {
    const [, ...rest] = tokenizer.encode(" x");
    const started = [...tokenizer.encode("c"), ...tokenizer.encode("at"), ...rest];
    const requested = [...messages, { role: "assistant", content: "cat" }];
    const body = { messages: requested, continue_final_message: true, final_message_token_ids: started };
    const opened = createChatFormat(tokenizer).open([{ role: "user", content: "Hi there!" }]).tokenIds;
    expect(parse(body).prompts[0]!.tokenIds).toEqual([...opened, ...started]);
    expect(() => parse({ ...body, continue_final_message: false })).toThrow(
      expect.objectContaining({ code: "invalid_value", param: "final_message_token_ids" }),
    );
  });

  test("null is as if left out, for every field", () => {
    const names = [
      "model",
      "temperature",
      "top_p",
      "top_k",
      "n",
      "seed",
      "stop",
      "stop_token_ids",
      "stream",
      "stream_options",
    ];
    const more = [
      "include_stop_str_in_output",
      "ignore_eos",
      "return_token_ids",
      "priority",
      "cache_salt",
      "deadline_ms",
      "user",
      "max_tokens",
      "max_completion_tokens",
    ];
    const nulls = Object.fromEntries(
      [...names, ...more, "logprobs", "tools", "logit_bias"].map((name) => [name, null]),
    );
    expect(parse(nulls)).toEqual(parse({}));
  });

  test("a field that is undefined is not there, known or not", () => {
    expect(parse({ temperature: undefined, nonsense: undefined })).toEqual(parse({}));
  });

  test("a temperature below 1e-5 is greedy, and top_k -1, 0 and the vocabulary mean all", () => {
    expect(paramsOf({ temperature: 9e-6 }).temperature).toBe(0);
    expect(paramsOf({ temperature: 2e-5 }).temperature).toBe(2e-5);
    expect([-1, 0, 4095, 4096, 1e300].map((top_k) => paramsOf({ top_k }).topK)).toEqual([0, 0, 4095, 0, 0]);
  });

  test("negative seeds are seeds of their own", () => {
    const seeds = [Number.MIN_SAFE_INTEGER, -1, 0, Number.MAX_SAFE_INTEGER];
    expect(seeds.map((seed) => paramsOf({ seed }).seed)).toEqual(seeds);
  });

  test("one stop string needs no list, and a dialogue's own stop string comes after the request's", async () => {
    const tiny = await loadTokenizer(openFolder("tests/fixtures/gpt2-tiny", ["tokenizer.json"]));
    const changes = { chatFormat: createChatFormat(tiny) };
    expect(paramsOf({ stop: "." }).stop).toEqual(["."]);
    expect(paramsOf({ stop: "." }, changes).stop).toEqual([".", "\nUser:"]);
    expect(paramsOf({ stop: "\nUser:" }, changes).stop).toEqual(["\nUser:"]);
  });

  test("text parts become lines", () => {
    const content = [
      { type: "text", text: "Hi" },
      { type: "text", text: "there!" },
    ];
    const parts = parse({ messages: [{ role: "user", content }] });
    const whole = parse({ messages: [{ role: "user", content: "Hi\nthere!" }] });
    expect(parts.prompts[0]!.tokenIds).toEqual(whole.prompts[0]!.tokenIds);
  });

  test("an answer may take what is left of the context, or of a cache that holds less", () => {
    expect(paramsOf({}, { limits: { maxModelLen: 100, blockSize: 16, numGpuBlocks: 64 } }).maxTokens).toBe(
      100 - promptLength,
    );
    expect(paramsOf({}, { limits: { maxModelLen: 100, blockSize: 16, numGpuBlocks: 2 } }).maxTokens).toBe(
      32 - promptLength,
    );
    expect(paramsOf({ max_completion_tokens: 5 }).maxTokens).toBe(5);
  });
});

describe("a chat request is refused, naming the field,", () => {
  const long = "word ".repeat(300);
  test.each([
    ["for no messages", { messages: undefined }, "missing_required_parameter", "messages", "messages is missing"],
    ["for empty messages", { messages: [] }, "invalid_value", "messages", "at least one"],
    ["for messages of another type", { messages: "Hi" }, "invalid_type", "messages", 'a list, not "Hi"'],
    ["for a message that is none", { messages: ["Hi"] }, "invalid_type", "messages[0]", 'an object, not "Hi"'],
    ["for no role", { messages: [{ content: "Hi" }] }, "missing_required_parameter", "messages[0].role", "missing"],
    [
      "for another role",
      { messages: [...messages, { role: "critic", content: "" }] },
      "invalid_value",
      "messages[1].role",
      '"system", "developer", "user", "assistant", "tool", "function"',
    ],
    [
      "for no content",
      { messages: [{ role: "user" }] },
      "missing_required_parameter",
      "messages[0].content",
      "missing",
    ],
    [
      "for content of another type",
      { messages: [{ role: "user", content: 7 }] },
      "invalid_type",
      "messages[0].content",
      "not 7",
    ],
    [
      "for an image",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
      "unsupported_parameter",
      "messages[0].content[0].type",
      "image_url",
    ],
    [
      "for a part without text",
      { messages: [{ role: "user", content: [{ type: "text" }] }] },
      "missing_required_parameter",
      "messages[0].content[0].text",
      "missing",
    ],
    [
      "for a message's unknown field",
      { messages: [{ role: "user", content: "", contents: "" }] },
      "unknown_parameter",
      "messages[0].contents",
      "Did you mean content?",
    ],
    ["for another model", { model: "gpt-4" }, "model_not_found", "model", "chorus-chat"],
    [
      "for a temperature beyond the range",
      { temperature: 2.1 },
      "invalid_value",
      "temperature",
      "between 0 and 2, not 2.1",
    ],
    ["for a temperature that is no number", { temperature: NaN }, "invalid_value", "temperature", "not NaN"],
    ["for a temperature of another type", { temperature: "hot" }, "invalid_type", "temperature", 'a number, not "hot"'],
    ["for top_p 0", { top_p: 0 }, "invalid_value", "top_p", "above 0"],
    ["for top_k -2", { top_k: -2 }, "invalid_value", "top_k", "not -2"],
    ["for n 0", { n: 0 }, "invalid_value", "n", "between 1 and 128"],
    ["for a fractional n", { n: 1.5 }, "invalid_type", "n", "an integer"],
    ["for a seed beyond exactness", { seed: 2 ** 60 }, "invalid_value", "seed", "9007199254740991"],
    ["for an empty stop string", { stop: ["a", ""] }, "invalid_value", "stop[1]", "not empty"],
    ["for a stop string of another type", { stop: ["a", 3] }, "invalid_type", "stop[1]", "a string, not 3"],
    ["for stop of another type", { stop: 3 }, "invalid_type", "stop", "a string or a list"],
    ["for 17 stop strings", { stop: Array.from({ length: 17 }, () => "x") }, "invalid_value", "stop", "at most 16"],
    ["for a stop id beyond the vocabulary", { stop_token_ids: [4096] }, "invalid_value", "stop_token_ids[0]", "4095"],
    ["for max_tokens 0", { max_tokens: 0 }, "invalid_value", "max_tokens", "at least 1"],
    [
      "for two lengths",
      { max_tokens: 4, max_completion_tokens: 5 },
      "invalid_value",
      "max_completion_tokens",
      "max_tokens (4)",
    ],
    [
      "for an unknown stream option",
      { stream_options: { include_usages: true } },
      "unknown_parameter",
      "stream_options.include_usages",
      "include_usage",
    ],
    [
      "for a stream option it can't do",
      { stream_options: { continuous_usage_stats: true } },
      "unsupported_parameter",
      "stream_options.continuous_usage_stats",
      "not supported",
    ],
    ["for a number of logprobs", { logprobs: 5 }, "invalid_type", "logprobs", "true or false"],
    ["for a field of the other endpoint", { prompt: "x" }, "unknown_parameter", "prompt", "no field"],
    ["for a misspelt field", { maxTokens: 5 }, "unknown_parameter", "maxTokens", "Did you mean max_tokens?"],
    [
      "for a prompt beyond the context",
      { messages: [{ role: "user", content: long }] },
      "context_length_exceeded",
      "messages",
      "256",
    ],
    ["for a length beyond the context", { max_tokens: 256 }, "context_length_exceeded", "messages", "lower max_tokens"],
  ])("%s", (_, change, code, param, part) => {
    expect(() => parse(change)).toThrow(
      expect.objectContaining({ code, param, message: expect.stringContaining(part) }),
    );
  });

  test("for a prompt beyond the cache", () => {
    const limits = { maxModelLen: 256, blockSize: 16, numGpuBlocks: 1 };
    const content = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
    expect(() => parse({ messages: [{ role: "user", content }] }, { limits })).toThrow(
      expect.objectContaining({ code: "cache_capacity_exceeded", param: "messages" }),
    );
  });

  test.each([null, [], "x", 7, undefined])("for a body that is %j", (body) => {
    expect(() => parseChatRequest(body, requestContext(tokenizer))).toThrow(
      expect.objectContaining({ code: "invalid_type", param: null, message: expect.stringContaining("request body") }),
    );
  });
});
