// The model families, by model_type. A new one is a row of decoder/differences.ts, or a folder and a line here.

import { brief, JsonFields } from "../files/json-fields.ts";
import { CONFIG_FILE } from "../files/model-folder.ts";
import { mlxPacking, mlxStoredAs } from "../files/mlx.ts";
import type { StoredAs } from "../files/tensor.ts";
import { ChorusError } from "../protocol/errors.ts";
import { decoder } from "./decoder/decoder.ts";
import { gpt2 } from "./gpt2/gpt2.ts";
import { lfm2 } from "./lfm2/lfm2.ts";
import { qwen35 } from "./qwen3-5/qwen3-5.ts";
import { weightsOf } from "./graph.ts";
import type { Family, Model } from "./model.ts";

export const FAMILIES: readonly Family[] = [gpt2, decoder, lfm2, qwen35];

/** Multimodal models of which the text model is run, with its model_type if text_config has none. */
const MULTIMODAL: ReadonlyMap<string, string> = new Map([
  ["gemma3", "gemma3_text"],
  ["mistral3", "mistral"],
  ["qwen3_5", "qwen3_5_text"],
]);

/** The field of a config that was made of a GGUF file's pairs. No JSON has it. */
export const MADE_OF_GGUF = Symbol("made of a GGUF file");

export interface MadeOfGguf {
  readonly file: string;
  /** Its general.architecture. */
  readonly architecture: string;
  /** By the file's names of tensors. */
  readonly stored: Readonly<Record<string, StoredAs>>;
}

/**
 * @param vocabSize rows of the token embedding, if the checkpoint's number differs from the config's
 * @throws ChorusError model_unsupported for another model_type; the family's own errors
 */
export function describeModel(json: unknown, vocabSize?: number, families = FAMILIES): Model {
  const config = { ...textConfig(json), ...(vocabSize !== undefined && { vocab_size: vocabSize }) };
  const fields = new JsonFields(CONFIG_FILE, config);
  const made = (config as { [MADE_OF_GGUF]?: MadeOfGguf })[MADE_OF_GGUF] ?? null;
  const modelType = fields.string("model_type", "none");
  const family = families.find(({ modelTypes }) => modelTypes.includes(modelType));
  if (family === undefined) {
    const known = [...families.flatMap(({ modelTypes }) => modelTypes), ...MULTIMODAL.keys()].join(", ");
    throw new ChorusError(
      "model_unsupported",
      `This model's config.json asks for model_type ${brief(modelType)}, which is not supported (known: ${known}).`,
      CONFIG_FILE,
    );
  }
  if (made === null || family.gguf === null) return withMlxPacking(family.describe(config), config);
  const gguf = family.gguf.weights(made.architecture);
  const storedAs = (tensor: string) => made.stored[gguf.nameOf(tensor)] ?? null;
  return { ...inFile(made.file, () => family.describe(config)), gguf, storedAs };
}

/**
 * Returns a multimodal model's config as its text model's: text_config's fields, and others where it has none. A head of its
 * own is one wherever the config says so: transformers 5 asks outside of text_config, 4 asked inside.
 */
function textConfig(json: unknown): object {
  const fields = new JsonFields(CONFIG_FILE, json);
  const textType = MULTIMODAL.get(fields.string("model_type", "none"));
  if (textType === undefined) return json as object;
  const text = { model_type: textType, ...fields.object("text_config", {}) };
  const untied = !fields.boolean("tie_word_embeddings", true) && { tie_word_embeddings: false };
  return { ...(json as object), ...text, ...untied, text_config: undefined };
}

/** Says of an error in the config that the file is meant of which it was made. */
function inFile<T>(file: string, describe: () => T): T {
  try {
    return describe();
  } catch (error) {
    if (!(error instanceof ChorusError) || error.param !== CONFIG_FILE) throw error;
    throw new ChorusError(error.code, error.message.replaceAll(CONFIG_FILE, file), file, { cause: error });
  }
}

/** The checkpoint may differ: it says so when it is opened. */
function withMlxPacking(model: Model, config: unknown): Model {
  const packingOf = mlxPacking(config);
  if (packingOf === null) return model;
  const tensors = weightsOf(model.graph).flatMap((weight) => weight.tensors);
  const columnsOf = new Map(tensors.map(({ name, shape: [, columns] }) => [name, columns]));
  const storedAs = (tensor: string): StoredAs => {
    const sizes = packingOf(tensor.replace(/\.weight$/, ""));
    const columns = columnsOf.get(tensor);
    // MLX leaves matrices alone whose rows are not whole groups.
    if (!sizes || columns === undefined || columns % sizes.group !== 0) return { type: "BF16", layout: "bf16" };
    const { type, packing: layout } = mlxStoredAs(sizes);
    return { type, layout };
  };
  return { ...model, storedAs };
}
