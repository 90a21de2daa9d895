// The fields of beam search, with Hugging Face's names and vLLM's use_beam_search.

import type { BeamSearchParams } from "../engine/sampling/sampling-params.ts";
import type { GenerationFields } from "../protocol/openai.ts";
import { type Fields, invalidType, invalidValue, quote, refused } from "./validate.ts";

export const BEAM_FIELDS = [
  "use_beam_search",
  "best_of",
  "length_penalty",
  "early_stopping",
] as const satisfies readonly (keyof GenerationFields)[];

/** OpenAI's. */
const MAX_BEAMS = 20;
const MAX_LENGTH_PENALTY = 10;

/** Fields about sampling or ending, which beam search doesn't use, with the values that change nothing. */
const MEANINGLESS: readonly (readonly [name: string, neutral: readonly unknown[], instead: string])[] = [
  ["temperature", [0], "Leave it out"],
  ["top_p", [1], "Leave it out"],
  ["top_k", [0, -1], "Leave it out"],
  ["min_p", [0], "Leave it out"],
  ["typical_p", [1], "Leave it out"],
  ["seed", [], "Leave it out: beam search is deterministic"],
  ["stop", [], "Give stop_token_ids"],
  ["logprobs", [false], "Leave it out: each choice has its beam_score"],
  ["prompt_logprobs", [], "Leave it out: each choice has its beam_score"],
];

/** @returns null if the request doesn't ask for beam search */
export function parseBeamSearch(fields: Fields, n: number): BeamSearchParams | null {
  const isRequested = fields.boolean("use_beam_search") ?? false;
  const numBeams = fields.integer("best_of", { min: 1, max: MAX_BEAMS }) ?? n;
  const lengthPenalty = fields.number("length_penalty", { min: -MAX_LENGTH_PENALTY, max: MAX_LENGTH_PENALTY }) ?? 1;
  const earlyStopping = parseEarlyStopping(fields);
  if (numBeams < n) throw refused("best_of", `best_of is ${numBeams}, fewer than the ${n} answers of n.`);
  if (!isRequested) {
    const needBeams = { best_of: numBeams !== n, length_penalty: lengthPenalty !== 1, early_stopping: earlyStopping };
    for (const [name, changes] of Object.entries(needBeams)) {
      const what = `${name} ${quote(fields.get(name))}`;
      if (changes !== false) throw refused(name, `${what} needs beam search; set use_beam_search: true.`);
    }
    return null;
  }
  for (const [name, neutral, instead] of MEANINGLESS) {
    if (fields.says(name) && !neutral.includes(fields.get(name)))
      throw refused(name, `${name} has no effect on beam search. ${instead}.`);
  }
  if (numBeams > MAX_BEAMS) throw invalidValue("n", `at most ${MAX_BEAMS} with beam search`, numBeams);
  return { numBeams, lengthPenalty, earlyStopping };
}

function parseEarlyStopping(fields: Fields): boolean | "never" {
  const value = fields.get("early_stopping");
  if (value === undefined || typeof value === "boolean" || value === "never") return value ?? false;
  const invalid = typeof value === "string" ? invalidValue : invalidType;
  throw invalid("early_stopping", 'true, false or "never"', value);
}
