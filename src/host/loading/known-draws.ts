// Known answers of draws with filters, rules and top log-probabilities: a GPU's kernels for these are compiled while answers
// stream, and asked before a sequence uses them. The logits need not be known. Filters that leave one token must leave the
// likeliest. Rules add so much to some tokens' logits that only that counts, and random numbers that the host computes, too.

import type { DrawKind } from "../../backends/backend.ts";
import type { Runner, SequenceResult } from "../../engine/runner.ts";
import { gumbel } from "../../engine/sampling/gumbel.ts";
import { NO_RULES } from "../../engine/sampling/logit-rules.ts";
import { NO_FILTERS } from "../../engine/sampling/sampling-params.ts";
import type { DrawnToken, DrawParams, ScoredToken, SlotRules } from "../../engine/step-plan.ts";

interface CheckedRunner {
  readonly runner: Runner;
  readonly slot: number;
  readonly vocabSize: number;
}

export function areDrawsRight(checked: CheckedRunner, kind: DrawKind): Promise<boolean> {
  return { filters: areFiltersRight, rules: areRulesRight, top: isTopRight }[kind](checked);
}

/** The likeliest token, without rules and filters. */
export const GREEDY: DrawParams = { ...NO_RULES, ...NO_FILTERS, temperature: 0, seed: 0 };

/** A draw in a sequence's only row. */
export const PLAIN_DRAW: DrawnToken = {
  kind: "draw",
  row: 0,
  slot: 0,
  numTop: 0,
  outputIndex: 0,
  promptLength: 1,
  params: GREEDY,
  isProcessed: false,
  isTooEarly: false,
  isNormalised: false,
  mask: null,
};

/** Each leaves one token: at the high temperature all are about equally likely. */
const ONE_LEFT: readonly Partial<DrawParams>[] = [
  { topK: 1, temperature: 1e3 },
  { topP: 1e-6, temperature: 1e3 },
  { minP: 0.999, temperature: 1 },
];
/** Most that a token's log-probability may be below the likeliest's that a filter takes for equal. */
const ABOUT_EQUAL = 0.01;

async function areFiltersRight(checked: CheckedRunner): Promise<boolean> {
  const { drawn } = await ask(checked, { draws: ONE_LEFT.map((params) => ({ params: { ...GREEDY, ...params } })) });
  const { scored } = await ask(checked, { scores: drawn.map(({ tokenId }) => ({ tokenId })) });
  const [best] = scored;
  if (best === undefined || Number.isNaN(best.logprob)) return true; // the model's own weights may be no numbers
  return best.rank === 1 && scored.every(({ logprob }) => logprob >= best.logprob - ABOUT_EQUAL);
}

const NUM_TOP = 8;

async function isTopRight(checked: CheckedRunner): Promise<boolean> {
  const [first] = (await ask(checked, { scores: [{ tokenId: 0, numTop: NUM_TOP }] })).scored;
  const top = first?.top ?? [];
  if (first === undefined || Number.isNaN(first.logprob)) return true;
  const { scored } = await ask(checked, { scores: top.map(({ tokenId }) => ({ tokenId })) });
  // Of equally likely ones each has the rank of the first.
  const isRight = scored.every(({ rank = 0, logprob }, i) => rank <= i + 1 && Object.is(logprob, top[i]?.logprob));
  return isRight && new Set(top.map(({ tokenId }) => tokenId)).size === Math.min(NUM_TOP, checked.vocabSize);
}

/** What rules add to the logits of the tokens, over the temperature. The last one is not allowed, and the one before is a bad word. */
const STRENGTHS = [3, 2.6, 2.3, 2.1, 1.9, 1.7, 1.6, 4, 4];
const TEMPERATURE = 1e6;
const FORBIDDEN = STRENGTHS.length - 1;
const BAD = FORBIDDEN - 1;
const ALLOWED = STRENGTHS.slice(0, BAD);
/** Places in the list of tokens. */
const PROMPT = [1, 2];
const OUTPUT = [0, 0];
const THE_BEST = [3, 2.6, 2.3];
/** In a step, with a score: any engine has nine samples. */
const MOST_DRAWS = 8;
const LESS_OF_THE_FIRST = [1.3, ...ALLOWED.slice(1)];
const NOT_THE_FIRST = [-Infinity, ...ALLOWED.slice(1)];

interface RuledDraw extends Partial<Pick<DrawnToken, "isTooEarly">> {
  readonly params?: Partial<DrawParams>;
  readonly hasMask?: boolean;
  /** What rules and filters leave of the strengths. */
  readonly left: number[];
}

const RULED: readonly RuledDraw[] = [
  { left: ALLOWED },
  { params: { topK: 3 }, left: THE_BEST },
  { params: { topP: 0.55 }, left: THE_BEST },
  { params: { minP: 0.45 }, left: THE_BEST },
  // Their surprises are 1.6, 1.9 and 2.1, and the entropy is 1.8.
  { params: { typicalP: 0.4 }, left: [-Infinity, 2.6, 2.3, 2.1] },
  { params: { repetitionPenalty: 2 }, left: [1.5, 1.3, 1.15, 2.1, 1.9, 1.7, 1.6] },
  { params: { frequencyPenalty: 0.85 * TEMPERATURE }, left: LESS_OF_THE_FIRST },
  { params: { presencePenalty: 1.7 * TEMPERATURE }, left: LESS_OF_THE_FIRST },
  { params: { noRepeatNgramSize: 2 }, left: NOT_THE_FIRST },
  { isTooEarly: true, left: NOT_THE_FIRST },
  { hasMask: true, left: [-Infinity, 2.6, -Infinity, 2.1, -Infinity, 1.7] },
];

async function areRulesRight(checked: CheckedRunner): Promise<boolean> {
  const { slot, vocabSize } = checked;
  if (vocabSize < STRENGTHS.length) return true;
  const tokens = STRENGTHS.map((_, i) => Math.floor((i * (vocabSize - 1)) / FORBIDDEN));
  const at = (places: readonly number[]) => places.map((place) => tokens[place] ?? 0);
  const mask = new Uint32Array(Math.ceil(vocabSize / 32));
  for (const token of at([1, 3, 5, FORBIDDEN])) mask[token >>> 5] = (mask[token >>> 5] ?? 0) | (1 << (token & 31));
  const expected = RULED.map(({ left }) => luckiest(left, tokens));
  const draws = RULED.map(({ params, hasMask = false, isTooEarly = false }, i) => ({
    outputIndex: OUTPUT.length,
    promptLength: PROMPT.length,
    params: { ...GREEDY, ...params, temperature: TEMPERATURE, seed: expected[i]?.seed ?? 0 },
    isProcessed: true,
    isTooEarly,
    mask: hasMask ? 0 : null,
  }));
  const rules = {
    logitBias: tokens.map((token, i) => [token, TEMPERATURE * (STRENGTHS[i] ?? 0)] as const),
    endTokenIds: at([0]),
    badWords: [at([0, BAD])],
    allowedTokenIds: tokens.slice(0, FORBIDDEN),
  };
  const histories = [{ slot, start: 0, values: at([...PROMPT, ...OUTPUT]) }];
  const scores = [{ tokenId: 0 }];
  const question = { scores, rules: [{ slot, rules }], histories, masks: [mask] };
  const { drawn, scored } = await ask(checked, { ...question, draws: draws.slice(0, MOST_DRAWS) });
  const { drawn: others } = await ask(checked, { ...question, draws: draws.slice(MOST_DRAWS) });
  return (
    Number.isNaN(scored[0]?.logprob) ||
    [...drawn, ...others].every(({ tokenId }, i) => tokenId === expected[i]?.tokenId)
  );
}

/** Least by which the luckiest is luckier, since a GPU's logarithms are inexact, and logits count a little. */
const MARGIN = 0.2;

/** Returns a seed, and the token that it draws of those that are left: without rules and filters another one would be drawn. */
function luckiest(left: readonly number[], tokens: readonly number[]): { seed: number; tokenId: number } {
  for (let seed = 0; ; seed++) {
    const place = (strengths: readonly number[], margin: number): number => {
      const luck = strengths.map((strength, i) => strength + gumbel([seed, 0], [OUTPUT.length, tokens[i] ?? 0]));
      const best = luck.indexOf(Math.max(...luck));
      return luck.every((one, i) => i === best || one < (luck[best] ?? 0) - margin) ? best : -1;
    };
    const own = place(left, MARGIN);
    if (own >= 0 && [STRENGTHS, ALLOWED].every((all) => all === left || own !== place(all, 0)))
      return { seed, tokenId: tokens[own] ?? 0 };
  }
}

interface Question {
  readonly scores?: readonly Partial<ScoredToken>[];
  readonly draws?: readonly Partial<DrawnToken>[];
  readonly rules?: readonly SlotRules[];
  readonly histories?: readonly { readonly slot: number; readonly start: number; readonly values: readonly number[] }[];
  readonly masks?: readonly Uint32Array<ArrayBuffer>[];
}

const NOTHING: SequenceResult = { scored: [], drawn: [] };

/** Computes a step of one row, in a sequence of its own. */
async function ask(
  { runner, slot }: CheckedRunner,
  { scores = [], draws = [], rules = [], histories = [], masks = [] }: Question,
): Promise<SequenceResult> {
  const sample = { row: 0, slot, numTop: 0 };
  const { sequences } = await runner.submit({
    sequences: [{ slot, start: 0, numRows: 1, numScored: scores.length, numDrawn: draws.length }],
    rows: Uint32Array.of(1, 0, slot, 0),
    samples: [
      ...scores.map((one) => ({ ...sample, kind: "score" as const, tokenId: 0, ...one })),
      ...draws.map((one) => ({ ...PLAIN_DRAW, slot, ...one })),
    ],
    blockTables: [],
    histories,
    rules,
    masks,
  });
  return sequences[0] ?? NOTHING;
}
