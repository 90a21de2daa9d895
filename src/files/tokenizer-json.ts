// Reads the tokenizer from tokenizer.json, or builds the same from the older pair vocab.json and merges.txt.

import type { AddedToken } from "./token-finder.ts";
import { refuseEndlessPatterns } from "./endless-patterns.ts";
import { brief, invalidFile, JsonFields, unsupportedFile } from "./json-fields.ts";
import { isObject } from "../protocol/json-object.ts";
import type { ModelFiles } from "./model-files.ts";
import { NO_SPECIAL_TOKENS, readSpecialTokens, type SpecialTokens } from "./special-tokens.ts";
import { isolated, wordsWith } from "./word-patterns.ts";
import { betweenPieces, preTokenizer } from "./words.ts";

/** tokenizer.json, as far as a BPE needs it. */
export interface TokenizerJson {
  /**
   * How the vocabulary writes text. "bytes": a character stands for each byte, as in GPT-2. "sentencepiece": unchanged, with
   * "▁" for a space, and "<0x0A>" for a byte that has no token.
   */
  readonly alphabet: "bytes" | "sentencepiece";
  readonly normalizer: unknown;
  readonly pre_tokenizer: unknown;
  readonly decoder: unknown;
  readonly model: { readonly vocab: Record<string, number>; readonly [field: string]: unknown };
  readonly added_tokens: readonly AddedToken[];
  /** The largest id, plus one. */
  readonly vocabSize: number;
  /** The tokens around a text that is not part of a chat. */
  readonly specialTokens: SpecialTokens;
}

/**
 * @param config tokenizer_config.json, which may still be loading
 * @throws ChorusError model_not_found, model_invalid; model_unsupported for tokenizers other than BPE over bytes or with byte fallback
 */
export async function readTokenizerJson(files: ModelFiles, config: Promise<JsonFields>): Promise<TokenizerJson> {
  const [json, tokenizerConfig] = await Promise.all([files.tryReadJson("tokenizer.json"), config]);
  return json === undefined ? fromVocabAndMerges(files, tokenizerConfig) : parseTokenizerJson(json, tokenizerConfig);
}

/** Bounds the tables, whose length is the largest id. */
const MAX_TOKEN_ID = 2 ** 24;

const NOTHING: Record<string, unknown> = {};

function parseTokenizerJson(json: unknown, config: JsonFields): TokenizerJson {
  const file = "tokenizer.json";
  const fields = new JsonFields(file, json);
  const modelJson = fields.object("model", NOTHING);
  const model = new JsonFields(`${file}: model`, modelJson);
  refuse(model.string("type", "BPE") !== "BPE", `tokenizer model ${brief(modelJson["type"])}`);
  const isSentencePiece = model.boolean("byte_fallback", false);
  for (const name of ["continuing_subword_prefix", "end_of_word_suffix"]) refuse(model.string(name, "") !== "", name);
  if (isSentencePiece) {
    refuse(!has("ByteFallback", fields.object("decoder", NOTHING)), "byte_fallback without a decoder ByteFallback");
  } else {
    for (const name of ["pre_tokenizer", "decoder"] as const) {
      const step = fields.object(name, NOTHING);
      refuse(!has("ByteLevel", step), `tokenizer ${name} ${brief(step["type"] ?? null)}`);
    }
  }
  for (const name of ["normalizer", "pre_tokenizer"] as const) refuseEndlessPatterns(fields.get(name), file);
  const { vocab, largestId } = checkVocab(`${file}: model.vocab`, modelJson["vocab"]);
  const merges = parseMerges(`${file}: model.merges`, model.array("merges", []), vocab);
  const listed = fields.array("added_tokens", []).map((token) => parseAddedToken(`${file}: added_tokens`, token));
  const added = withConfigured(listed, config);
  const unknown = model.string("unk_token", null);
  if (unknown !== null && !Object.hasOwn(vocab, unknown) && !added.some(({ content }) => content === unknown))
    throw invalidFile(file, `${file}: model.unk_token ${brief(unknown)} is not in its vocabulary.`);
  return {
    alphabet: isSentencePiece ? "sentencepiece" : "bytes",
    normalizer: fields.object("normalizer", null),
    pre_tokenizer: preTokenizer(fields.object("pre_tokenizer", null), isSentencePiece ? betweenPieces(vocab) : null),
    decoder: fields.object("decoder", null),
    model: { ...modelJson, vocab, merges },
    added_tokens: added,
    vocabSize: sizeWith(added, largestId),
    specialTokens: readSpecialTokens(fields.get("post_processor")),
  };
}

function refuse(unsupported: boolean, what: string): void {
  const known = "BPE tokenizers over bytes, or with byte fallback";
  if (unsupported) throw unsupportedFile("tokenizer.json", `This model has ${what}; only ${known}, are supported.`);
}

/** Whether a step is of this type, or a sequence with one that is. */
function has(type: string, step: Record<string, unknown>): boolean {
  if (step["type"] === type) return true;
  const parts = step["pretokenizers"] ?? step["decoders"];
  return step["type"] === "Sequence" && Array.isArray(parts) && parts.some((part) => isObject(part) && has(type, part));
}

/** Returns the pairs that are merged, first to last. Their results must be tokens, or text would be lost. */
function parseMerges(file: string, merges: readonly unknown[], vocab: Record<string, number>): [string, string][] {
  const pairs: [string, string][] = [];
  for (const merge of merges) {
    if (typeof merge === "string" && merge.startsWith("#version")) continue;
    const parts: readonly unknown[] = typeof merge === "string" ? merge.split(" ") : Array.isArray(merge) ? merge : [];
    const [left, right] = parts;
    const isPair = parts.length === 2 && typeof left === "string" && typeof right === "string";
    if (!isPair || !Object.hasOwn(vocab, left + right))
      throw invalidFile(file, `${file}: ${brief(merge)} does not make a token of two.`);
    pairs.push([left, right]);
  }
  return pairs;
}

async function fromVocabAndMerges(files: ModelFiles, config: JsonFields): Promise<TokenizerJson> {
  const [vocabJson, merges] = await Promise.all([files.tryReadJson("vocab.json"), files.tryReadText("merges.txt")]);
  if (vocabJson === undefined || merges === undefined) await files.open("tokenizer.json"); // throws model_not_found with the place
  const isQwen = await isQwenPair(files, config);
  const { vocab, largestId } = checkVocab("vocab.json", vocabJson);
  const added = addedTokens(vocab, config);
  const lines = (merges ?? "").split(/\r?\n/).filter((line) => line !== "");
  const addsSpace = config.boolean("add_prefix_space", false);
  const byteLevel = { type: "ByteLevel", add_prefix_space: addsSpace, use_regex: !isQwen };
  const words = isolated(wordsWith("\\p{N}"));
  return {
    alphabet: "bytes",
    normalizer: isQwen ? { type: "NFC" } : null,
    pre_tokenizer: preTokenizer(isQwen ? { type: "Sequence", pretokenizers: [words, byteLevel] } : byteLevel, null),
    decoder: byteLevel,
    model: { type: "BPE", vocab, merges: parseMerges("merges.txt", lines, vocab) },
    added_tokens: added,
    vocabSize: sizeWith(added, largestId),
    specialTokens: NO_SPECIAL_TOKENS,
  };
}

/**
 * Returns whether the pair is Qwen's, and not GPT-2's: the files don't say how a text is cut into words.
 * @throws ChorusError model_unsupported for others
 */
async function isQwenPair(files: ModelFiles, config: JsonFields): Promise<boolean> {
  const inConfig = config.string("tokenizer_class", "");
  const model = inConfig === "" ? await files.tryReadJson("config.json") : null;
  const family =
    inConfig || (isObject(model) && typeof model["model_type"] === "string" ? model["model_type"] : "gpt2");
  if (/^qwen[23]/i.test(family)) return true;
  if (/^gpt2/i.test(family)) return false;
  const why = `vocab.json and merges.txt don't say how ${brief(family)} cuts a text into words; it needs tokenizer.json.`;
  throw unsupportedFile("tokenizer.json", why);
}

/** Returns these tokens and those that only tokenizer_config.json adds. */
function withConfigured(tokens: readonly AddedToken[], config: JsonFields): AddedToken[] {
  const file = "tokenizer_config.json: added_tokens_decoder";
  const configured = Object.entries(config.object("added_tokens_decoder", {})).map(([id, token]) =>
    parseAddedToken(file, isObject(token) ? { ...token, id: Number(id) } : token),
  );
  const known = new Set<unknown>(tokens.flatMap(({ id, content }) => [id, content]));
  return [...tokens, ...configured.filter(({ id, content }) => !known.has(id) && !known.has(content))];
}

/** Returns the tokens that tokenizer_config.json adds to the vocabulary, and GPT-2's end of text. */
function addedTokens(vocab: Record<string, number>, config: JsonFields): AddedToken[] {
  const added = withConfigured([], config);
  const endOfText = vocab["<|endoftext|>"];
  if (endOfText === undefined || added.some((token) => token.id === endOfText)) return added;
  return [...added, parseAddedToken("vocab.json", { id: endOfText, content: "<|endoftext|>", special: true })];
}

function parseAddedToken(file: string, json: unknown): AddedToken {
  const fields = new JsonFields(file, json);
  const id = fields.nonNegativeInteger("id", null);
  const content = fields.string("content", "");
  if (id === null || id > MAX_TOKEN_ID || content === "")
    throw invalidFile(file, `${file}: ${brief(json)} lacks content or a valid id.`);
  const flag = (name: string) => fields.boolean(name, false);
  const special = flag("special");
  return {
    id,
    content,
    special,
    normalized: fields.boolean("normalized", !special),
    lstrip: flag("lstrip"),
    rstrip: flag("rstrip"),
    single_word: flag("single_word"),
  };
}

/** Checks a vocabulary in one pass: it may have a quarter of a million tokens. */
function checkVocab(file: string, json: unknown): { vocab: Record<string, number>; largestId: number } {
  if (!isObject(json)) throw invalidFile(file, `${file} must be an object of tokens and their ids.`);
  let largestId = -1;
  for (const [token, id] of Object.entries(json)) {
    if (!Number.isSafeInteger(id) || (id as number) < 0 || (id as number) > MAX_TOKEN_ID)
      throw invalidFile(file, `${file}: token ${brief(token)} has id ${brief(id)}.`);
    largestId = Math.max(largestId, id as number);
  }
  return { vocab: json as Record<string, number>, largestId };
}

function sizeWith(added: readonly AddedToken[], largestId: number): number {
  return 1 + added.reduce((most, { id }) => Math.max(most, id), largestId);
}
