// For the log: which kernels compute a model's products and attention, and why.

import { paddedHeadDim, type ModelShape } from "../../protocol/model-shape.ts";
import type { KernelChoice } from "../backend.ts";
import { MAX_SPLIT_ROWS, SPLIT_FROM, usesQuads } from "./kernels/attention.ts";
import type { KernelTraits } from "./kernel-style.ts";
import type { MatmulVariant } from "./matmul-variants.ts";
import type { QueryTiles } from "./query-tiles.ts";
import type { Tuned } from "./tuning.ts";

const TUNING_REASONS: Record<Tuned<unknown>["reason"], string> = {
  "no choice": "the only ones for such an adapter",
  unmeasured: "the default ones, unmeasured",
  stored: "the fastest in an earlier measurement",
  measured: "the fastest of those measured now",
  untried: "not all measured, since the GPU was lost twice",
};

interface Described {
  readonly traits: KernelTraits;
  readonly kernels: KernelChoice;
  readonly shape: ModelShape;
  readonly maxLength: number;
}

/** Returns a line for the products and one for attention. */
export function describeKernels(
  matmuls: Tuned<MatmulVariant>,
  tiles: Tuned<QueryTiles>,
  described: Described,
): readonly string[] {
  const { traits, kernels } = described;
  const subgroups = traits.hasSubgroups ? "with subgroups" : "without subgroups";
  const kind = traits.style === "plain" ? `a software adapter ${subgroups}` : `a GPU ${subgroups}`;
  const why = kernels === "plain" ? "plain kernels, since default ones were refused or computed wrong answers" : kind;
  const variants = matmuls.variants.map(({ name, maxRows }) => `${name} for ${rowsUpTo(maxRows)}`).join(", ");
  return [
    `matmul kernels: ${variants} (${TUNING_REASONS[matmuls.reason]}; ${why})`,
    `attention kernel: ${attentionKernel(described)} (${why}); ${promptsOf(tiles)}`,
  ];
}

function rowsUpTo(maxRows: number): string {
  if (maxRows === Infinity) return "more";
  return maxRows === 1 ? "1 row" : `up to ${maxRows} rows`;
}

function promptsOf({ variants: [tiles], reason }: Tuned<QueryTiles>): string {
  const from = tiles && tiles.minStepRows > 0 ? ` in steps of ${tiles.minStepRows} rows and more` : "";
  return `prompts: ${tiles?.name}${from} (${TUNING_REASONS[reason]})`;
}

function attentionKernel({ traits, shape, maxLength }: Described): string {
  const isPlain = traits.style === "plain";
  if (isPlain && usesQuads(traits, paddedHeadDim(shape) / 4)) return "quads of lanes, reading the cache";
  const whole = "a workgroup per row and head";
  if (isPlain) return whole;
  if (maxLength < SPLIT_FROM) return `${whole}; no splits, since no sequence has ${SPLIT_FROM} positions`;
  return `${whole}; splits for up to ${MAX_SPLIT_ROWS} rows from ${SPLIT_FROM} positions on, to fill the GPU`;
}
