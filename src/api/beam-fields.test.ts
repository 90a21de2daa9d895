import { expect, test } from "vitest";
import { parseBeamSearch } from "./beam-fields.ts";
import { Fields } from "./validate.ts";

const parse = ({ n = 1, ...body }: Record<string, unknown> & { n?: number }) => parseBeamSearch(new Fields(body), n);

const refusal = (param: string, message: string) =>
  expect.objectContaining({ code: "invalid_value", param, message: expect.stringContaining(message) });

test("there are as many beams as best_of says, else as choices", () => {
  expect(parse({ use_beam_search: true, n: 3 })).toEqual({ numBeams: 3, lengthPenalty: 1, earlyStopping: false });
  expect(parse({ use_beam_search: true, n: 3, best_of: 5, length_penalty: -0.5, early_stopping: "never" })).toEqual({
    numBeams: 5,
    lengthPenalty: -0.5,
    earlyStopping: "never",
  });
  expect(parse({ n: 3, best_of: 3 })).toBeNull();
});

test("there are no fewer beams than choices, and not too many", () => {
  expect(() => parse({ use_beam_search: true, n: 3, best_of: 2 })).toThrow(refusal("best_of", "fewer than the 3"));
  expect(() => parse({ use_beam_search: true, n: 21 })).toThrow(refusal("n", "at most 20"));
});

test.each(["best_of", "length_penalty", "early_stopping"])("%s needs beam search", (name) => {
  const value = { best_of: 2, length_penalty: 2, early_stopping: true }[name];
  expect(() => parse({ [name]: value })).toThrow(refusal(name, "use_beam_search: true"));
});

test.each<[string, unknown, string]>([
  ["temperature", 0.7, "Leave it out"],
  ["top_p", 0.9, "Leave it out"],
  ["top_k", 5, "Leave it out"],
  ["min_p", 0.1, "Leave it out"],
  ["typical_p", 0.9, "Leave it out"],
  ["seed", 1, "deterministic"],
  ["stop", "x", "stop_token_ids"],
  ["logprobs", true, "beam_score"],
  ["logprobs", 0, "beam_score"],
])("%s %j has no effect on beam search", (name, value, instead) => {
  expect(() => parse({ use_beam_search: true, [name]: value })).toThrow(refusal(name, instead));
});

test("what asks for nothing is accepted beside it", () => {
  const nothing = { temperature: 0, top_p: 1, top_k: -1, min_p: 0, stop: [], logprobs: false, seed: null };
  expect(parse({ use_beam_search: true, ...nothing })).not.toBeNull();
});
