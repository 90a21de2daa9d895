// The model families, by model_type. A new one is a folder and a line here.

import { brief, JsonFields } from "../files/json-fields.ts";
import { CONFIG_FILE } from "../files/model-folder.ts";
import { ChorusError } from "../protocol/errors.ts";
import { gemma3 } from "./gemma3/gemma3.ts";
import { gpt2 } from "./gpt2/gpt2.ts";
import { llama } from "./llama/llama.ts";
import type { Family, Model } from "./model.ts";

export const FAMILIES: readonly Family[] = [gpt2, llama, gemma3];

/** The field of a config that was made from a GGUF file's pairs: its general.architecture. */
export const GGUF_ARCHITECTURE = "gguf_architecture";

/**
 * Reads config.json by the family that it names.
 * @param vocabSize see Family.describe
 * @throws ChorusError model_unsupported for another model_type; the family's own errors
 */
export function describeModel(config: unknown, vocabSize?: number, families = FAMILIES): Model {
  const fields = new JsonFields(CONFIG_FILE, config);
  const modelType = fields.string("model_type", "none");
  const family = families.find(({ modelTypes }) => modelTypes.includes(modelType));
  const architecture = fields.string(GGUF_ARCHITECTURE, null);
  if (family) {
    const model = family.describe(config, vocabSize);
    return architecture === null || !family.gguf ? model : { ...model, gguf: family.gguf.weights(architecture) };
  }
  const known = families.flatMap(({ modelTypes }) => modelTypes).join(", ");
  throw new ChorusError(
    "model_unsupported",
    `This model's config.json asks for model_type ${brief(modelType)}, which is not supported (known: ${known}).`,
    CONFIG_FILE,
  );
}
