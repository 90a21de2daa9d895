import { describe, expect, test } from "vitest";
import { ending, going, params, request, respond, stream } from "../../tests/requests/sample-answers.ts";
import type { ChoiceOutput } from "./answer.ts";

describe("the most likely tokens", () => {
  const likely = [
    { tokenId: 1, logprob: -0.5 },
    { tokenId: 3, logprob: -2.5 },
  ];
  const output: ChoiceOutput = { ...ending("aa", 2), topLogprobs: [likely] };
  const asking = { params: { ...params, topLogprobs: 2 }, tokenIds: [7], param: "messages" };
  const named = (length: number, logprob: number) => ({
    token: "a".repeat(length),
    logprob,
    bytes: Array.from({ length }, () => 97),
  });

  test("stand beside each token of a chat, in order", () => {
    const parsed = request({ wantLogprobs: true, prompts: [asking] });
    const content = [{ ...named(2, -2), top_logprobs: [named(1, -0.5), named(3, -2.5)] }];
    expect(respond(parsed, [[0, output]]).choices[0]?.logprobs).toEqual({ content });
    expect(stream(parsed, [[0, output]]).at(-1)?.choices[0]?.logprobs).toEqual({ content });
  });

  test("of completions come with the token itself", () => {
    const parsed = request({ endpoint: "completions", wantLogprobs: true, prompts: [asking] });
    const logprobs = {
      tokens: ["aa"],
      token_logprobs: [-2],
      top_logprobs: [{ a: -0.5, aaa: -2.5, aa: -2 }],
      text_offset: [0],
    };
    expect(respond(parsed, [[0, output]]).choices[0]?.logprobs).toEqual(logprobs);
    expect(stream(parsed, [[0, output]]).at(-1)?.choices[0]?.logprobs).toEqual(logprobs);
  });
});

test("tokens are named by their ids for who asks for that, with their bytes", () => {
  const output: ChoiceOutput = { ...ending("aa", 2), topLogprobs: [[{ tokenId: 3, logprob: -0.5 }]] };
  const prompts = [{ params: { ...params, topLogprobs: 1 }, tokenIds: [7], param: "messages" }];
  const requested = { wantLogprobs: true, namesTokensById: true, prompts };
  const chat = { token: "token_id:2", bytes: [97, 97], top_logprobs: [{ token: "token_id:3", bytes: [97, 97, 97] }] };
  expect(stream(request(requested), [[0, output]]).at(-1)?.choices[0]?.logprobs).toMatchObject({ content: [chat] });
  expect(respond(request({ ...requested, endpoint: "completions" }), [[0, output]]).choices[0]?.logprobs).toEqual({
    tokens: ["token_id:2"],
    token_logprobs: [-2],
    top_logprobs: [{ "token_id:3": -0.5, "token_id:2": -2 }],
    text_offset: [0],
  });
});

test("what can't come is reported as -9999, since JSON has no -Infinity", () => {
  const likely = [
    { tokenId: 1, logprob: -9999.5 },
    { tokenId: 3, logprob: -9998.5 },
  ];
  const scores = [{ tokenId: 1, logprob: -Infinity, rank: 7, top: [] }];
  const output = { ...ending("aa", 2), logprobs: [-3.4028234e38], topLogprobs: [likely], promptScores: scores };
  const prompts = [{ params: { ...params, topLogprobs: 2 }, tokenIds: [7], param: "messages" }];
  const requested = { wantLogprobs: true, promptLogprobs: 0, prompts };

  const chat = respond(request(requested), [[0, output]]);
  expect(chat.choices[0]?.logprobs).toMatchObject({
    content: [{ logprob: -9999, top_logprobs: [{ logprob: -9999 }, { logprob: -9998.5 }] }],
  });
  expect(chat).toMatchObject({ prompt_logprobs: [null, { 1: { logprob: -9999, rank: 7 } }] });

  const completion = respond(request({ ...requested, endpoint: "completions" }), [[0, output]]);
  expect(completion.choices[0]?.logprobs).toMatchObject({
    token_logprobs: [-9999],
    top_logprobs: [{ a: -9999, aaa: -9998.5, aa: -9999 }],
  });
});

/** Scores of two tokens of a prompt. */
const SCORES = [
  { tokenId: 1, logprob: -0.25, rank: 1, top: [{ tokenId: 3, logprob: -1.5 }] },
  {
    tokenId: 2,
    logprob: -4,
    rank: 9,
    top: [
      { tokenId: 3, logprob: -0.5 },
      { tokenId: 1, logprob: -1 },
    ],
  },
];

describe("the prompt's log-probabilities", () => {
  const reported = [
    null,
    { 1: { logprob: -0.25, rank: 1, decoded_token: "a" }, 3: { logprob: -1.5, rank: 1, decoded_token: "aaa" } },
    { 2: { logprob: -4, rank: 9, decoded_token: "aa" }, 3: { logprob: -0.5, rank: 1, decoded_token: "aaa" } },
  ];
  const scored = { ...ending("a", 1), promptScores: SCORES };

  test("are a chat's, and each choice's of completions, as many as were asked for", () => {
    expect(respond(request({ promptLogprobs: 1 }), [[0, scored]])).toMatchObject({ prompt_logprobs: reported });
    const completions = respond(request({ endpoint: "completions", promptLogprobs: 1 }), [[0, scored]]);
    expect(completions.choices[0]).toMatchObject({ prompt_logprobs: reported });
  });

  test("are left out where nobody asked", () => {
    expect(respond(request(), [[0, scored]])).not.toHaveProperty("prompt_logprobs");
  });

  test("come first in an echo's, null for the first token", () => {
    const asking = { params: { ...params, topLogprobs: 1, promptLogprobs: 1 }, tokenIds: [2, 1], param: "prompt" };
    const requested = request({ endpoint: "completions", echo: true, wantLogprobs: true, prompts: [asking] });
    const first = { ...going("aaa", 3), promptScores: SCORES.slice(0, 1) };
    const logprobs = {
      tokens: ["aa", "a", "aaa"],
      token_logprobs: [null, -0.25, -3],
      top_logprobs: [null, { a: -0.25, aaa: -1.5 }, { aaa: -3 }],
      text_offset: [0, 2, 3],
    };
    const later = { ...logprobs, tokens: ["a"], token_logprobs: [-1], top_logprobs: [{ a: -1 }], text_offset: [6] };
    expect(
      stream(requested, [
        [0, first],
        [0, ending("a", 1)],
      ]).map(({ choices }) => choices[0]?.logprobs),
    ).toEqual([logprobs, later]);
    expect(respond(requested, [[0, first]]).choices[0]?.logprobs).toEqual(logprobs);
  });
});
