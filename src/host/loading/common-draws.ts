import type { CommonDraws } from "../../backends/backend.ts";
import type { GenerationDefaults } from "../../files/generation-config.ts";

/** Returns how tokens are drawn for requests that say nothing of it. */
export function commonDraws(defaults: Omit<GenerationDefaults, "eosTokenIds">): CommonDraws {
  const { temperature, topK, topP, minP, typicalP, repetitionPenalty, noRepeatNgramSize } = defaults;
  return {
    haveFilters: temperature > 0 && (topK > 0 || topP < 1 || minP > 0 || typicalP < 1),
    haveRules: repetitionPenalty !== 1 || noRepeatNgramSize > 0,
  };
}
