import { describe, expect, test } from "vitest";
import { loadChorusTokenizer, requestContext } from "../../tests/requests/request-context.ts";
import { echoedText } from "./answer.ts";
import { parseCompletionRequest } from "./completion-request.ts";
import { echoedLogprobs } from "./logprobs.ts";
import type { RequestContext } from "./parsed-request.ts";

const tokenizer = await loadChorusTokenizer();
const parse = (body: object, changes: Partial<RequestContext> = {}) =>
  parseCompletionRequest(body, requestContext(tokenizer, changes));
const promptsOf = (prompt: unknown) => parse({ prompt }).prompts.map(({ tokenIds, param }) => [param, tokenIds]);

describe("parseCompletionRequest", () => {
  test("a prompt is a text, texts, token ids, or several lists of them", () => {
    const [once, upon] = [tokenizer.encode("Once"), tokenizer.encode("upon a time")];
    expect(promptsOf("Once")).toEqual([["prompt", once]]);
    expect(promptsOf(["Once", "upon a time"])).toEqual([
      ["prompt[0]", once],
      ["prompt[1]", upon],
    ]);
    expect(promptsOf([5, 6, 7])).toEqual([["prompt", [5, 6, 7]]]);
    expect(promptsOf([[5, 6], [7]])).toEqual([
      ["prompt[0]", [5, 6]],
      ["prompt[1]", [7]],
    ]);
  });

  test("control tokens written in a prompt count as such: here it is the developer who writes", () => {
    expect(promptsOf("<|user|>")).toEqual([["prompt", [1]]]);
    const { prompts } = parse({ prompt: ["<|user|>"], parse_special_tokens: false });
    expect(prompts.map(({ tokenIds }) => tokenIds)).toEqual([tokenizer.encodePlain("<|user|>")]);
  });

  test("a text gets the tokens that the model's tokenizer puts around it, unless they are not wanted", () => {
    const special = {
      encode: (text: string) => tokenizer.encode(text),
      encodePlain: (text: string) => tokenizer.encodePlain(text),
      tokenBytes: (id: number) => tokenizer.tokenBytes(id),
      tokenText: (id: number) => tokenizer.tokenText(id),
      specialTokens: { before: [7], after: [8] },
    };
    const parsed = (body: object) => parse({ prompt: "Once", ...body }, { tokenizer: special });
    const once = tokenizer.encode("Once");
    const idsOf = ({ prompts }: ReturnType<typeof parse>) => prompts.map(({ tokenIds }) => tokenIds);
    expect(idsOf(parsed({}))).toEqual([[7, ...once, 8]]);
    expect(idsOf(parsed({ add_special_tokens: false }))).toEqual([once]);
    expect(idsOf(parsed({ prompt: [5, 6] }))).toEqual([[5, 6]]);
    // The echo is the caller's text.
    const echoing = parsed({ echo: true, logprobs: 0 });
    const names = { tokenBytes: (id: number) => tokenizer.tokenBytes(id), tokenText: (id: number) => `${id}` };
    expect(echoedText(echoing, 0, names)).toBe("Once");
    const scores = [...once, 8].map((tokenId, i) => ({ tokenId, logprob: -i }));
    const echoed = echoedLogprobs(echoing, 0, scores);
    expect(echoed.tokenIds).toEqual(once);
    expect(echoed.logprobs).toEqual(once.map((_, i) => -i));
  });

  test("16 tokens are the default, or what is left of the context", () => {
    const lengths = (prompt: number[][]) => parse({ prompt }).prompts.map(({ params }) => params.maxTokens);
    const ids = (length: number) => Array.from({ length }, () => 9);
    expect(lengths([ids(1), ids(240), ids(241), ids(255)])).toEqual([16, 16, 15, 1]);
  });

  test("each prompt has a seed of its own unless the request gives one", () => {
    const seeds = (body: object) => parse({ prompt: ["a", "b"], ...body }).prompts.map(({ params }) => params.seed);
    expect(seeds({})).toEqual([1000, 1001]);
    expect(seeds({ seed: 7 })).toEqual([7, 7]);
  });

  test("logprobs: 0 asks for those of the tokens drawn", () => {
    expect(parse({ prompt: "a", logprobs: 0 }).wantLogprobs).toBe(true);
    expect(parse({ prompt: "a" }).wantLogprobs).toBe(false);
  });
});

describe("a completion request is refused, naming the field,", () => {
  test.each([
    ["for no prompt", {}, "missing_required_parameter", "prompt", "missing"],
    ["for a prompt of another type", { prompt: 7 }, "invalid_type", "prompt", "not 7"],
    ["for an empty list", { prompt: [] }, "invalid_value", "prompt", "at least one token"],
    ["for an empty text", { prompt: "" }, "invalid_value", "prompt", "empty"],
    ["for an empty text among others", { prompt: ["a", ""] }, "invalid_value", "prompt[1]", "empty"],
    ["for a mixed list", { prompt: ["a", 3] }, "invalid_type", "prompt[1]", "a string, not 3"],
    ["for ids among lists", { prompt: [[1], 3] }, "invalid_type", "prompt[1]", "not 3"],
    ["for a list of something else", { prompt: [true] }, "invalid_type", "prompt[0]", "not true"],
    ["for text among ids", { prompt: [1, "a"] }, "invalid_type", "prompt[1]", 'a token id, not "a"'],
    ["for an id beyond the vocabulary", { prompt: [[1], [2, 4096]] }, "invalid_value", "prompt[1][1]", "4095"],
    ["for a negative id", { prompt: [-1] }, "invalid_value", "prompt[0]", "not -1"],
    ["for too many likely tokens", { prompt: "a", logprobs: 21 }, "invalid_value", "logprobs", "between 0 and 20"],
    ["for more tokens than there may be", { prompt: "a", min_tokens: 17 }, "invalid_value", "min_tokens", "16 tokens"],
    ["for logprobs of chats", { prompt: "a", logprobs: true }, "invalid_type", "logprobs", "an integer, not true"],
    [
      "for the name that chats have",
      { prompt: "a", max_completion_tokens: 3 },
      "unknown_parameter",
      "max_completion_tokens",
      "max_tokens",
    ],
    [
      "for a prompt beyond the context",
      { prompt: ["a", Array.from({ length: 256 }, () => "a ").join("")] },
      "context_length_exceeded",
      "prompt[1]",
      "256",
    ],
  ])("%s", (_, body, code, param, part) => {
    expect(() => parse(body)).toThrow(expect.objectContaining({ code, param, message: expect.stringContaining(part) }));
  });

  test("for text that the tokenizer knows and the model doesn't", () => {
    expect(() => parse({ prompt: "~zebra" }, { vocabSize: 50 })).toThrow(
      expect.objectContaining({
        code: "invalid_value",
        param: "prompt",
        message: expect.stringContaining("end at 49"),
      }),
    );
  });

  test("the prompt is scored where prompt_logprobs or echo with logprobs ask for it, with the larger of both", () => {
    const scored = (body: object) => {
      const { prompts, promptLogprobs } = parse({ prompt: "Once", ...body });
      return [prompts[0]?.params.promptLogprobs, promptLogprobs];
    };
    expect(scored({})).toEqual([null, null]);
    expect(scored({ echo: true })).toEqual([null, null]);
    expect(scored({ logprobs: 2 })).toEqual([null, null]);
    expect(scored({ echo: true, logprobs: 2 })).toEqual([2, null]);
    expect(scored({ prompt_logprobs: 0 })).toEqual([0, 0]);
    expect(scored({ prompt_logprobs: 1, echo: true, logprobs: 2 })).toEqual([2, 1]);
  });

  test("with an echo there may be no tokens after the prompt: one is drawn, and not told", () => {
    const scoring = parse({ prompt: "Once", echo: true, logprobs: 0, max_tokens: 0 });
    expect(scoring).toMatchObject({ isPromptOnly: true, prompts: [{ params: { maxTokens: 1, promptLogprobs: 0 } }] });
    expect(parse({ prompt: "Once", echo: true, max_tokens: 1 }).isPromptOnly).toBe(false);
    const refused = (param: string) => expect.objectContaining({ code: "invalid_value", param });
    for (const echo of [undefined, false, null]) {
      expect(() => parse({ prompt: "Once", max_tokens: 0, echo })).toThrow(refused("max_tokens"));
    }
    expect(() => parse({ prompt: "Once", max_tokens: 0, echo: true, min_tokens: 1 })).toThrow(refused("min_tokens"));
  });

  test("the prompt can't be scored beside beam search, nor prompt_logprobs be streamed", () => {
    const refused = (param: string) => expect.objectContaining({ code: "invalid_value", param });
    const beams = { prompt: "Once", use_beam_search: true, best_of: 2, temperature: 0 };
    expect(() => parse({ ...beams, echo: true, logprobs: 0 })).toThrow(refused("logprobs"));
    expect(() => parse({ ...beams, prompt_logprobs: 0 })).toThrow(refused("prompt_logprobs"));
    expect(() => parse({ prompt: "Once", stream: true, prompt_logprobs: 0 })).toThrow(refused("prompt_logprobs"));
    expect(parse({ prompt: "Once", stream: true, echo: true, logprobs: 0 }).echo).toBe(true);
  });

  test("an answer that has a grammar is not searched for by beams", () => {
    const both = { prompt: "Once", use_beam_search: true, response_format: { type: "json_object" } };
    const refused = { code: "invalid_value", param: "use_beam_search" };
    expect(() => parse(both)).toThrow(expect.objectContaining(refused));
    expect(parse({ ...both, response_format: { type: "text" } }).beamSearch).not.toBeNull();
  });
});

test("options may stand beside response_format, for its schema, and not alone", () => {
  const structureOf = (body: object) => parse({ prompt: "x", ...body }).structure;
  const schema = { type: "integer" };
  const response_format = { type: "json_schema", json_schema: { schema } };
  const whitespace = { pattern: "any", param: "structured_outputs.whitespace_pattern" };
  const param = "response_format.json_schema.schema";
  const structured_outputs = { whitespace_pattern: "any" };
  expect(structureOf({ response_format, structured_outputs })).toEqual({ kind: "schema", schema, param, whitespace });
  const lenient = { ...structured_outputs, lenient: true };
  expect(structureOf({ response_format, structured_outputs: lenient })).toMatchObject({ whitespace, isLenient: true });
  expect(() => structureOf({ structured_outputs })).toThrow("whitespace_pattern is about JSON");
  expect(() => structureOf({ response_format: { type: "text" }, structured_outputs: lenient })).toThrow(
    "lenient is about JSON",
  );
  expect(() => structureOf({ response_format, structured_outputs: { regex: "a" } })).toThrow("both constrain");
  const tooLong = { whitespace_pattern: " ".repeat(100_001) };
  expect(() => structureOf({ response_format, structured_outputs: tooLong })).toThrow("longer than 100000 characters");
});
