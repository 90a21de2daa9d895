// The tokens that top-k, top-p, min-p and typical-p leave of a row of logits, in float64.

import { NO_FILTERS, type TokenFilters } from "../../src/engine/sampling/sampling-params.ts";

/** Probabilities of all; 0 where a value is -Infinity. */
export function softmax(logits: ArrayLike<number>): number[] {
  const values = Array.from(logits);
  const highest = Math.max(...values);
  const weights = values.map((value) => Math.exp(value - highest));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / total);
}

/**
 * Hugging Face's warpers, one after the other: which tokens they leave, and the probabilities of all (0 for the others).
 * @param scaled logits over temperature, -Infinity for what a rule forbids
 */
export function filterReference(
  scaled: readonly number[],
  request: Partial<TokenFilters>,
): { kept: number[]; probabilities: number[] } {
  const { topK, topP, minP, typicalP } = { ...NO_FILTERS, ...request };
  let kept = [...scaled.keys()]
    .filter((token) => scaled[token] !== -Infinity)
    .sort((a, b) => (scaled[b] ?? 0) - (scaled[a] ?? 0));
  const over = (tokens: number[]) => {
    const left = new Set(tokens);
    return softmax(scaled.map((value, token) => (left.has(token) ? value : -Infinity)));
  };
  const untilMass = (order: number[], goal: number) => {
    const probabilities = over(kept);
    let mass = 0;
    return order.filter((token) => {
      const keep = mass < goal;
      mass += probabilities[token] ?? 0;
      return keep;
    });
  };
  if (topK > 0) kept = kept.slice(0, topK);
  if (topP < 1) kept = untilMass(kept, topP);
  const highest = Math.max(...scaled);
  kept = kept.filter((token) => Math.exp((scaled[token] ?? 0) - highest) >= minP);
  if (typicalP < 1) {
    const probabilities = over(kept);
    const surprise = (token: number) => -Math.log(probabilities[token] ?? 0);
    const entropy = kept.reduce((sum, token) => sum + (probabilities[token] ?? 0) * surprise(token), 0);
    const distance = (token: number) => Math.abs(surprise(token) - entropy);
    kept = untilMass(
      [...kept].sort((a, b) => distance(a) - distance(b)),
      typicalP,
    );
  }
  return { kept, probabilities: over(kept) };
}

/**
 * vLLM's processed log-probabilities: those of the distribution that a token is drawn from, -Infinity for excluded tokens.
 * @param logits after the rules, -Infinity for what they forbid
 * @param request temperature 0 = greedy: as if it were 1, without filters
 */
export function processedLogprobs(
  logits: ArrayLike<number>,
  { temperature = 1, ...filters }: Partial<TokenFilters> & { temperature?: number },
): number[] {
  const scaled = Array.from(logits, (logit) => logit / (temperature === 0 ? 1 : temperature));
  const { probabilities, kept } = filterReference(scaled, temperature === 0 ? NO_FILTERS : filters);
  const left = new Set(kept);
  const highest = Math.max(...kept.map((token) => scaled[token] ?? NaN));
  // Not the logarithm of a probability, which may be too small for a number.
  const logTotal = Math.log(kept.reduce((sum, token) => sum + Math.exp((scaled[token] ?? NaN) - highest), 0));
  return probabilities.map((_, token) => (left.has(token) ? (scaled[token] ?? NaN) - highest - logTotal : -Infinity));
}
