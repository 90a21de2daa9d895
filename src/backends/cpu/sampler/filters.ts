import type { Kernels } from "../kernels/signatures.ts";
import { MASS_ONE } from "../kernels/sampling/weigh.ts";
import type { RowSelector, SamplerScratch } from "./row-selector.ts";
import type { SampleView } from "../../sample-record.ts";

interface FilteredRow {
  /** Address of the logits, which are changed: those that a filter drops become FORBIDDEN. */
  readonly logits: number;
  readonly bytes: number;
  readonly highest: number;
  readonly vocabSize: number;
}

export function hasFilters({ topK, topP, minP, typicalP }: SampleView, vocabSize: number): boolean {
  return (topK > 0 && topK < vocabSize) || topP < 1 || minP > 0 || typicalP < 1;
}

/**
 * Applies the filters of a request, each to the tokens that those before it left:
 *   top-k: the k largest, and those equal to the k-th
 *   top-p: the fewest largest whose probabilities reach p
 *   min-p: those whose probability is at least min_p times the largest
 *   typical-p: the fewest with a surprise nearest to the entropy whose probabilities reach typical_p
 */
export function applyFilters(
  kernels: Kernels,
  selector: RowSelector,
  { weights, masses }: SamplerScratch,
  { logits, bytes, highest, vocabSize }: FilteredRow,
  { topK, topP, minP, typicalP, temperature }: SampleView,
): void {
  if (topK > 0 && topK < vocabSize) {
    kernels.forbid_below(logits, logits, bytes, selector.keyOf(logits, 0, topK));
  }
  if (topP < 1) {
    const total = kernels.weigh(logits, weights, bytes, highest, temperature);
    kernels.masses_of(weights, masses, bytes, total);
    kernels.forbid_below(logits, logits, bytes, selector.keyOf(logits, masses, massOf(topP)));
  }
  if (minP > 0) {
    kernels.weigh(logits, weights, bytes, highest, temperature);
    kernels.forbid_lighter(logits, weights, bytes, minP);
  }
  if (typicalP < 1) {
    const total = kernels.weigh(logits, weights, bytes, highest, temperature);
    const logTotal = kernels.log(total);
    const entropy = kernels.entropy_of(logits, weights, bytes, highest, temperature, total, logTotal);
    kernels.masses_of(weights, masses, bytes, total);
    // The weights are no longer needed, so their memory is reused.
    kernels.typicality_of(logits, weights, bytes, highest, temperature, entropy, logTotal);
    kernels.forbid_below(logits, weights, bytes, selector.keyOf(weights, masses, massOf(typicalP)));
  }
}

function massOf(share: number): number {
  return Math.max(1, Math.floor(share * MASS_ONE));
}
