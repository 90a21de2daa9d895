import { meanOf, sumOf } from "../statistics.ts";
import type { Answer } from "./engine-page.ts";

export interface Timing {
  /** All sequences together, from the first token of any to the last of all; first tokens don't count. */
  readonly decodeTokensPerSecond: number;
  /** All tokens over all the time, prompts included. */
  readonly tokensPerSecond: number;
  /** From the call to a sequence's first token: the mean and the last. */
  readonly meanTtftMs: number;
  readonly lastTtftMs: number;
}

export function timingOf(answers: readonly Answer[]): Timing {
  const first = answers.map(({ arrivals }) => arrivals[0]);
  const last = answers.map(({ arrivals }) => arrivals.at(-1));
  const startMs = Math.min(...answers.map((answer) => answer.startMs));
  const beginMs = Math.min(...first.map((arrival) => arrival?.atMs ?? NaN));
  const endMs = Math.max(...last.map((arrival) => arrival?.atMs ?? NaN));
  const firstTokens = sumOf(first.map((arrival) => arrival?.tokens ?? NaN));
  const allTokens = sumOf(last.map((arrival) => arrival?.tokens ?? NaN));
  const ttftsMs = first.map((arrival) => (arrival?.atMs ?? NaN) - startMs);
  return {
    decodeTokensPerSecond: (1000 * (allTokens - firstTokens)) / (endMs - beginMs),
    tokensPerSecond: (1000 * allTokens) / (endMs - startMs),
    meanTtftMs: meanOf(ttftsMs),
    lastTtftMs: Math.max(...ttftsMs),
  };
}
