import type { ModelCard } from "../../src/protocol/reports.ts";
import type { BenchOptions } from "../page/bench-options.ts";
import { isSizeName } from "../model/model-sizes.ts";
import type { BenchEnvironment } from "./bench-result.ts";

export function environmentOf(
  version: string,
  card: ModelCard,
  { model }: BenchOptions,
  browser: string,
): BenchEnvironment {
  return {
    version,
    browser,
    adapter: card.adapter,
    model: isSizeName(model) ? `${model}, random weights` : card.name,
    parameters: card.numParameters,
    contextLength: card.contextLength,
    dtype: `${card.mixture ?? card.dtype}${card.activationDtype === "int8" ? ", activations in int8" : ""}`,
    kvCacheDtype: card.kvCacheDtype,
    cacheBlocks: card.numGpuBlocks,
  };
}
