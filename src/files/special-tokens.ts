// The tokens that a tokenizer puts around a text by itself, such as "<bos>" before it.

import { brief, invalidFile, JsonFields, unsupportedFile } from "./json-fields.ts";
import { isObject } from "../protocol/json-object.ts";

export interface SpecialTokens {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

export const NO_SPECIAL_TOKENS: SpecialTokens = { before: [], after: [] };

const FILE = "tokenizer.json: post_processor";

/**
 * Reads tokenizer.json's post_processor: a TemplateProcessing, alone or in a sequence.
 * @throws ChorusError model_invalid, model_unsupported
 */
export function readSpecialTokens(step: unknown): SpecialTokens {
  if (!isObject(step)) return NO_SPECIAL_TOKENS;
  const fields = new JsonFields(FILE, step);
  const type = fields.string("type", "");
  if (type === "Sequence") {
    const parts = fields.array("processors", []).map(readSpecialTokens);
    return { before: parts.flatMap(({ before }) => before), after: parts.flatMap(({ after }) => after) };
  }
  if (type === "ByteLevel") return NO_SPECIAL_TOKENS;
  if (type !== "TemplateProcessing") {
    const what = `tokenizer post_processor ${brief(type)}`;
    const known = "ByteLevel, TemplateProcessing and sequences of them";
    throw unsupportedFile("tokenizer.json", `This model has ${what}; only ${known} are supported.`);
  }
  const ids = fields.object("special_tokens", {});
  const pieces = fields.array("single", []);
  const text = pieces.findIndex((piece) => isObject(piece) && isObject(piece["Sequence"]));
  const idsOf = (some: readonly unknown[]) => some.flatMap((piece) => idsOfPiece(piece, ids));
  return text < 0 ? NO_SPECIAL_TOKENS : { before: idsOf(pieces.slice(0, text)), after: idsOf(pieces.slice(text)) };
}

/**
 * Reads them from tokenizer_config.json, which counts for Llama's and Gemma's tokenizers instead of tokenizer.json.
 * @param idOf returns the id of a token that the config names
 */
export function configuredSpecialTokens(
  inTokenizer: SpecialTokens,
  config: JsonFields,
  idOf: (name: "bos_token" | "eos_token") => number | undefined,
): SpecialTokens {
  if (!/^(CodeLlama|Llama|Gemma)Tokenizer(Fast)?$/.test(config.string("tokenizer_class", ""))) return inTokenizer;
  const token = (name: "bos_token" | "eos_token") => [idOf(name)].filter((id) => id !== undefined);
  const pick = (flag: string, own: readonly number[], name: "bos_token" | "eos_token") =>
    config.has(flag) ? (config.boolean(flag, false) ? token(name) : []) : own;
  return {
    before: pick("add_bos_token", inTokenizer.before, "bos_token"),
    after: pick("add_eos_token", inTokenizer.after, "eos_token"),
  };
}

function idsOfPiece(piece: unknown, special: Readonly<Record<string, unknown>>): number[] {
  const token = isObject(piece) ? piece["SpecialToken"] : undefined;
  if (!isObject(token)) return [];
  const known = special[String(token["id"])];
  const ids = isObject(known) ? known["ids"] : undefined;
  if (Array.isArray(ids) && ids.every((id) => Number.isSafeInteger(id) && id >= 0)) return ids as number[];
  throw invalidFile(FILE, `${FILE} has ${brief(token["id"])} without its ids.`);
}
