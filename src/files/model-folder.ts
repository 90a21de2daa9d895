// The files of a model's folder in Hugging Face layout.

import { parseJson } from "../protocol/bounded-data.ts";
import { isGguf, partNames } from "./gguf/gguf-names.ts";
import { invalidFile, JsonFields } from "./json-fields.ts";
import { isObject } from "../protocol/json-object.ts";

export const CONFIG_FILE = "config.json";
export const WEIGHTS_FILE = "model.safetensors";
/** Lists the shards if the weights are in several files. */
export const WEIGHTS_INDEX_FILE = "model.safetensors.index.json";
/** The tokenizer is in this file, or in the two below. */
export const TOKENIZER_FILE = "tokenizer.json";
export const VOCAB_AND_MERGES_FILES = ["vocab.json", "merges.txt"] as const;
/** Files that a folder may lack. */
export const OPTIONAL_FILES = ["tokenizer_config.json", "generation_config.json", "chat_template.jinja"] as const;

/** Returns whether a file holds weights, and is as large as they are. */
export function isWeightsFile(name: string): boolean {
  return name.endsWith(".safetensors") || isGguf(name);
}

/**
 * Returns the files of a folder from which its model is loaded: shards only if there is no single file.
 * @param gguf the file that has the weights, instead of safetensors
 */
export function modelFileNames(names: readonly string[], gguf: string | null = null): string[] {
  const small: readonly string[] = [CONFIG_FILE, TOKENIZER_FILE, ...VOCAB_AND_MERGES_FILES, ...OPTIONAL_FILES];
  const isSharded = !names.includes(WEIGHTS_FILE);
  const isWeights = (name: string) =>
    gguf !== null
      ? partNames(gguf).includes(name)
      : isSharded
        ? name === WEIGHTS_INDEX_FILE || isShardName(name)
        : name === WEIGHTS_FILE;
  return names.filter((name) => small.includes(name) || isWeights(name));
}

const FOREIGN_WEIGHTS = /^(pytorch_model.*\.bin|tf_model\.h5|flax_model\.msgpack|.*\.onnx)$/;

/** Explains that files have weights in other formats alone; null if they have safetensors or GGUF, or no weights at all. */
export function foreignWeights(names: readonly string[]): string | null {
  const foreign = names.find((name) => FOREIGN_WEIGHTS.test(name));
  if (foreign === undefined || names.some(isWeightsFile)) return null;
  return `${foreign} has a format that Chorus does not read. Look for the original model, with model.safetensors, or for a GGUF file of it.`;
}

const MAX_SHARDS = 1000;

/** Returns each shard once. @throws ChorusError model_invalid */
export function parseShardNames(json: unknown): string[] {
  const map = new JsonFields(WEIGHTS_INDEX_FILE, json).get("weight_map");
  const shards = [...new Set(isObject(map) ? Object.values(map) : [])];
  if (shards.length === 0 || shards.length > MAX_SHARDS || !shards.every(isShardName)) {
    const expected = `at most ${MAX_SHARDS} .safetensors files of the same folder`;
    throw invalidFile(WEIGHTS_INDEX_FILE, `${WEIGHTS_INDEX_FILE}: weight_map must map tensors to ${expected}.`);
  }
  return shards;
}

/** Accepts plain names only, so that an index can't refer to files outside the folder. */
function isShardName(name: unknown): name is string {
  return typeof name === "string" && /^[\w-][\w.-]{0,200}\.safetensors$/.test(name);
}

/** @throws ChorusError model_invalid, naming the file */
export function parseJsonFile(file: string, where: string, bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  try {
    return parseJson(text);
  } catch (cause) {
    const reason = text.trimStart().startsWith("<") ? "it looks like a web page" : (cause as Error).message;
    throw invalidFile(file, `${file} in ${where} is not JSON: ${reason}`, { cause });
  }
}
