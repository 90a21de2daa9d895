import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChatCompletion, ChatCompletionChunk, Completion } from "../protocol/openai.ts";
import { ending, going, head, request, respond, stream } from "../../tests/requests/sample-answers.ts";
import { answerId, type ChoiceOutput } from "./answer.ts";

const usage = (prompt: number, completion: number, cached = 0) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached },
});

const chatChunk = (choices: object[], more: object = {}) => ({
  ...head,
  object: "chat.completion.chunk",
  choices,
  ...more,
});

describe("a streamed chat", () => {
  test("opens with the role, goes on with text, and ends with the reason", () => {
    const outputs: [number, ChoiceOutput][] = [
      [0, going("a", 1)],
      [0, going("", 2)],
      [0, { ...ending("aab", 3), stopReason: "\n" }],
    ];
    expect(stream(request(), outputs)).toEqual([
      chatChunk([{ index: 0, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null }]),
      chatChunk([{ index: 0, delta: { content: "a" }, logprobs: null, finish_reason: null }]),
      chatChunk([{ index: 0, delta: { content: "aab" }, logprobs: null, finish_reason: "stop", stop_reason: "\n" }]),
    ]);
  });

  test("tells the thought as reasoning, streamed and whole", () => {
    const outputs: [number, ChoiceOutput][] = [
      [0, going("", 1)],
      [0, { ...going("", 1), reasoning: "Hm" }],
      [0, { ...going("", 1), reasoning: "." }],
      [0, ending("Yes", 3)],
    ];
    const deltas = stream(request(), outputs).map(
      ({ choices: [choice] }) => choice && "delta" in choice && choice.delta,
    );
    expect(deltas).toEqual([
      { role: "assistant", content: "" },
      { reasoning_content: "Hm" },
      { reasoning_content: "." },
      { content: "Yes" },
    ]);
    expect(respond(request(), outputs)).toMatchObject({
      choices: [{ message: { role: "assistant", content: "Yes", reasoning_content: "Hm." } }],
    });
  });

  test("that ends without text still tells why", () => {
    expect(stream(request(), [[0, ending("", 0)]]).at(-1)).toEqual(
      chatChunk([{ index: 0, delta: {}, logprobs: null, finish_reason: "stop", stop_reason: null }]),
    );
    const aborted = stream(request(), [[0, { ...going(""), finishReason: "abort" }]]);
    expect(aborted.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, "abort"]);
  });

  test("has token ids, log-probabilities and usage where they were asked for", () => {
    const parsed = request({ returnTokenIds: true, wantLogprobs: true, includeUsage: true });
    const [role, held, closing, last] = stream(parsed, [
      [0, going("", 2)],
      [0, ending("aaa", 1, 0)],
    ]);
    expect(role).toEqual(
      chatChunk([
        {
          index: 0,
          delta: { role: "assistant", content: "" },
          logprobs: null,
          finish_reason: null,
          prompt_token_ids: [7, 8],
        },
      ]),
    );
    const two = { token: "aa", logprob: -2, bytes: [97, 97], top_logprobs: [] };
    expect(held).toEqual(
      chatChunk([{ index: 0, delta: {}, logprobs: { content: [two] }, finish_reason: null, token_ids: [2] }]),
    );
    expect(closing).toMatchObject({
      choices: [
        {
          token_ids: [1, 0],
          logprobs: {
            content: [
              { token: "a", logprob: -1 },
              { token: "<end>", bytes: [] },
            ],
          },
        },
      ],
    });
    expect(last).toEqual(chatChunk([], { usage: usage(2, 3) }));
  });

  test("opens each of its choices once", () => {
    const outputs: [number, ChoiceOutput][] = [
      [1, going("a", 1)],
      [0, going("a", 1)],
      [1, ending("", 0)],
      [0, ending("", 0)],
    ];
    const chunks = stream(request({ n: 2 }), outputs) as ChatCompletionChunk[];
    const seen = chunks.map(({ choices }) => [choices[0]!.index, choices[0]!.delta.role ?? choices[0]!.finish_reason]);
    expect(seen).toEqual([
      [1, "assistant"],
      [1, null],
      [0, "assistant"],
      [0, null],
      [1, "stop"],
      [0, "stop"],
    ]);
  });
});

test("a streamed completion has text, offsets that go on, and the prompt of each choice once", () => {
  const parsed = request({ endpoint: "completions", n: 2, returnTokenIds: true, wantLogprobs: true }, [[7], [8, 9]]);
  const chunks = stream(parsed, [
    [2, going("aa", 2)],
    [2, ending("a", 1, 0)],
  ]);
  const logprobs = (tokens: string[], token_logprobs: number[], text_offset: number[]) => ({
    tokens,
    token_logprobs,
    text_offset,
    top_logprobs: null,
  });
  expect(chunks).toEqual([
    {
      ...head,
      object: "text_completion",
      choices: [
        {
          index: 2,
          text: "aa",
          logprobs: logprobs(["aa"], [-2], [0]),
          finish_reason: null,
          token_ids: [2],
          prompt_token_ids: [8, 9],
        },
      ],
    },
    {
      ...head,
      object: "text_completion",
      choices: [
        {
          index: 2,
          text: "a",
          logprobs: logprobs(["a", "<end>"], [-1, -0], [2, 3]),
          finish_reason: "stop",
          stop_reason: null,
          token_ids: [1, 0],
        },
      ],
    },
  ]);
});

describe("a whole answer", () => {
  test("of a chat", () => {
    const outputs: [number, ChoiceOutput][] = [
      [1, ending("b", 1)],
      [0, going("a", 1)],
      [0, { ...ending("aa", 2), finishReason: "length" }],
    ];
    expect(respond(request({ n: 2 }), outputs)).toEqual({
      ...head,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "aaa" },
          logprobs: null,
          finish_reason: "length",
          stop_reason: null,
        },
        {
          index: 1,
          message: { role: "assistant", content: "b" },
          logprobs: null,
          finish_reason: "stop",
          stop_reason: null,
        },
      ],
      usage: usage(2, 3),
    });
  });

  test("of completions, with everything", () => {
    const parsed = request({ endpoint: "completions", returnTokenIds: true, wantLogprobs: true }, [[7], [8, 9]]);
    const response = respond(parsed, [
      [0, ending("a", 1)],
      [1, { ...ending("aa", 2, 3), stopReason: 3 }],
    ]) as Completion;
    expect(response.choices[1]).toEqual({
      index: 1,
      text: "aa",
      logprobs: { tokens: ["aa", "aaa"], token_logprobs: [-2, -3], top_logprobs: null, text_offset: [0, 2] },
      finish_reason: "stop",
      stop_reason: 3,
      token_ids: [2, 3],
      prompt_token_ids: [8, 9],
    });
    expect(response.usage).toEqual(usage(3, 3));
  });

  test("is what its stream adds up to", () => {
    const step = fc.tuple(fc.nat(3), fc.constantFrom("", "a", "bc"), fc.array(fc.nat(5), { maxLength: 2 }));
    fc.assert(
      fc.property(fc.array(step), fc.boolean(), fc.boolean(), (steps, returnTokenIds, wantLogprobs) => {
        const parsed = request({ n: 2, includeUsage: true, returnTokenIds, wantLogprobs }, [[1], [2, 3]]);
        const outputs = steps.map(([choice, text, ids]): [number, ChoiceOutput] => [choice, going(text, ...ids)]);
        for (let choice = 0; choice < 4; choice++) outputs.push([choice, ending("!", 0)]);
        const whole = respond(parsed, outputs) as ChatCompletion;
        const chunks = stream(parsed, outputs) as ChatCompletionChunk[];
        for (const { index, message, token_ids, prompt_token_ids, logprobs } of whole.choices) {
          const parts = chunks.flatMap(({ choices }) => choices).filter((choice) => choice.index === index);
          expect(parts.map(({ delta }) => delta.content ?? "").join("")).toBe(message.content);
          expect(parts.flatMap((part) => part.token_ids ?? [])).toEqual(token_ids ?? []);
          expect(parts[0]!.prompt_token_ids).toEqual(prompt_token_ids);
          expect(parts.flatMap((part) => part.logprobs?.content ?? [])).toEqual(logprobs?.content ?? []);
        }
        expect(chunks.at(-1)!.usage).toEqual(whole.usage);
      }),
    );
  });
});

test("usage counts a prompt's cached tokens once, those that its first choice found", () => {
  const found = (cachedTokens: number, output: ChoiceOutput) => ({ ...output, cachedTokens });
  const outputs: [number, ChoiceOutput][] = [
    [1, found(0, ending("b", 1))],
    [2, found(2, ending("c", 1))],
    [0, found(1, ending("a", 1))],
    [3, found(3, ending("d", 1))],
  ];
  const parsed = request({ n: 2, includeUsage: true }, [
    [1, 2],
    [3, 4, 5],
  ]);
  expect((respond(parsed, outputs) as ChatCompletion).usage).toEqual(usage(5, 4, 3));
  expect(stream(parsed, outputs).at(-1)?.usage).toEqual(usage(5, 4, 3));
});

test("answers are named as OpenAI's are", () => {
  expect(answerId("chat.completions", "7")).toBe("chatcmpl-7");
  expect(answerId("completions", "7")).toBe("cmpl-7");
});

describe("an echo", () => {
  const parsed = request({ endpoint: "completions", n: 2, echo: true }, [[2], [1, 0]]);
  const outputs: [number, ChoiceOutput][] = [
    [0, going("", 1)], // half a character
    [1, ending("b", 1)],
    [2, ending("c", 1)],
    [0, ending("ab", 1)],
    [3, ending("", 0)],
  ];
  const texts = ["aaab", "aab", "a<end>c", "a<end>"];

  test("is the prompt's text in front of each choice's, control tokens as they are written", () => {
    const { choices } = respond(parsed, outputs) as Completion;
    expect(choices.map(({ text }) => text)).toEqual(texts);
  });

  test("comes with a choice's first chunk, once", () => {
    const streamed = ["", "", "", ""];
    const chunks = stream(parsed, outputs) as Completion[];
    for (const { index, text } of chunks.flatMap(({ choices }) => choices)) streamed[index] += text;
    expect(streamed).toEqual(texts);
    expect(chunks[0]?.choices[0]).toMatchObject({ index: 0, text: "aa", finish_reason: null });
  });
});
