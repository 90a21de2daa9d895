// generation_config.json: the sampling that the model's makers recommend. Requests take their defaults from it.

import { JsonFields } from "./json-fields.ts";
import type { ModelFiles } from "./model-files.ts";

export interface GenerationDefaults {
  /** 0 = greedy. */
  readonly temperature: number;
  /** 0 = all. */
  readonly topK: number;
  /** 1 = all. */
  readonly topP: number;
  /** 0 = all. */
  readonly minP: number;
  /** 1 = all. */
  readonly typicalP: number;
  /** 1 = none. */
  readonly repetitionPenalty: number;
  /** 0 = none. */
  readonly noRepeatNgramSize: number;
  readonly eosTokenIds: readonly number[];
}

/** @param configEosTokenIds config.json's end-of-text ids, used if this file has none */
export async function loadGenerationDefaults(
  files: ModelFiles,
  configEosTokenIds: readonly number[],
): Promise<GenerationDefaults> {
  return parseGenerationConfig((await files.tryReadJson("generation_config.json")) ?? {}, configEosTokenIds);
}

/** @throws ChorusError model_invalid, naming field and value. */
export function parseGenerationConfig(json: unknown, configEosTokenIds: readonly number[]): GenerationDefaults {
  const fields = new JsonFields("generation_config.json", json);
  return {
    // do_sample: false means greedy decoding, whatever the file's temperature.
    temperature: fields.boolean("do_sample", null) === false ? 0 : fields.nonNegativeNumber("temperature", 1),
    topK: fields.nonNegativeInteger("top_k", 0),
    topP: fields.fraction("top_p", 1),
    minP: fields.nonNegativeNumber("min_p", 0),
    typicalP: fields.fraction("typical_p", 1),
    repetitionPenalty: fields.nonNegativeNumber("repetition_penalty", 1) || 1,
    noRepeatNgramSize: fields.nonNegativeInteger("no_repeat_ngram_size", 0),
    eosTokenIds: fields.has("eos_token_id") ? fields.tokenIds("eos_token_id", []) : configEosTokenIds,
  };
}
