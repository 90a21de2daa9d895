import { ChorusError } from "../protocol/errors.ts";
import { type Fields, invalidType, invalidValue, quote } from "./validate.ts";

/** @throws ChorusError model_not_found where a request names another model than the one that is loaded */
export function checkModel(fields: Fields, loaded: string): void {
  const model = fields.string("model");
  if (model === undefined || model === loaded) return;
  const message = `The model ${quote(model)} is not loaded; "${loaded}" is.`;
  throw new ChorusError("model_not_found", message, "model");
}

/** Reads a list of token ids; undefined if the field is absent. */
export function parseTokenIds(fields: Fields, name: string, vocabSize: number): number[] | undefined {
  return fields.list(name, (value, path) => parseTokenId(path, value, vocabSize));
}

/** The same, of at least one. */
export function parseSomeTokenIds(fields: Fields, name: string, vocabSize: number): number[] | undefined {
  const ids = parseTokenIds(fields, name, vocabSize);
  if (ids?.length === 0) throw invalidValue(name, "at least one token id", ids);
  return ids;
}

export function parseTokenId(path: string, value: unknown, vocabSize: number): number {
  if (!Number.isInteger(value)) throw invalidType(path, "a token id", value);
  const id = value as number;
  if (id < 0 || id >= vocabSize) throw invalidValue(path, `a token id between 0 and ${vocabSize - 1}`, value);
  return id;
}
