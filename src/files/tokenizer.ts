// Converts text to token ids and back. BPE is @huggingface/tokenizers'; this file decides which strings are control tokens,
// because a chat's text must never become one (see api/chat-format.ts).

import { Tokenizer, type MetaspacePreTokenizer } from "@huggingface/tokenizers";

import { ChorusError } from "../protocol/errors.ts";
import { bytesOfPiece, bytesOfToken } from "./byte-alphabet.ts";
import { JsonFields } from "./json-fields.ts";
import { isObject } from "../protocol/json-object.ts";
import type { ModelFiles } from "./model-files.ts";
import { configuredSpecialTokens, type SpecialTokens } from "./special-tokens.ts";
import { TokenFinder, type AddedToken } from "./token-finder.ts";
import { readTokenizerJson, type TokenizerJson } from "./tokenizer-json.ts";
import { prefixingSteps, setPatterns } from "./words.ts";

/** All that a tokenizer is made of, as plain data. */
export interface TokenizerSource {
  readonly json: TokenizerJson;
  readonly chatTemplate: string | null;
  /** Used instead where a request has tools. */
  readonly toolTemplate: string | null;
  readonly tokenNames: Readonly<Record<string, string>>;
  readonly eosTokenIds: readonly number[];
}

/**
 * @param eosTokenIds end-of-text ids that the model's other files name, which may still be loading
 * @throws ChorusError model_not_found, model_invalid, model_unsupported
 */
export async function readTokenizer(
  files: ModelFiles,
  eosTokenIds: readonly number[] | Promise<readonly number[]>,
): Promise<TokenizerSource> {
  const readingConfig = readConfig(files);
  const [config, json, templates, ids] = await Promise.all([
    readingConfig,
    readTokenizerJson(files, readingConfig),
    readingConfig.then((read) => readChatTemplates(files, read)),
    eosTokenIds,
  ]);
  const tokenNames = namedTokens(json, config);
  const idOf = (name: string) => json.added_tokens.find(({ content }) => content === tokenNames[name])?.id;
  const specialTokens = configuredSpecialTokens(json.specialTokens, config, idOf);
  return { json: { ...json, specialTokens }, ...templates, tokenNames, eosTokenIds: ids };
}

async function readConfig(files: ModelFiles): Promise<JsonFields> {
  return new JsonFields("tokenizer_config.json", (await files.tryReadJson("tokenizer_config.json")) ?? {});
}

/** Reads a tokenizer as readTokenizer does, and makes it ready to use. */
export async function loadTokenizer(files: ModelFiles, eosTokenIds: readonly number[] = []): Promise<ModelTokenizer> {
  return new ModelTokenizer(await readTokenizer(files, eosTokenIds));
}

/** Returns the same tokenizer without the data for encoding. It knows the tokens' texts. */
export function withoutEncoder(source: TokenizerSource): TokenizerSource {
  const { json } = source;
  return { ...source, json: { ...json, normalizer: null, pre_tokenizer: null, model: { ...json.model, merges: [] } } };
}

/** Reads the template from chat_template.jinja, or from tokenizer_config.json: alone, or among several with names. */
async function readChatTemplates(files: ModelFiles, config: JsonFields) {
  const own = await files.tryReadText("chat_template.jinja");
  const configured = own ?? config.get("chat_template");
  if (typeof configured === "string") return { chatTemplate: configured, toolTemplate: null };
  const named = (name: string) => {
    const all: readonly unknown[] = Array.isArray(configured) ? configured : [];
    const found = all.find((entry) => isObject(entry) && entry["name"] === name);
    return isObject(found)
      ? new JsonFields("tokenizer_config.json: chat_template", found).string("template", null)
      : null;
  };
  return { chatTemplate: named("default"), toolTemplate: named("tool_use") };
}

/** Returns the tokens that templates use by name. GPT-2's "<|endoftext|>" replaces names missing from the files. */
function namedTokens(json: TokenizerJson, config: JsonFields): Record<string, string> {
  const endOfText = Object.hasOwn(json.model.vocab, "<|endoftext|>") ? "<|endoftext|>" : null;
  const tokens: Record<string, string> = {};
  for (const name of ["bos_token", "eos_token", "unk_token", "pad_token"]) {
    const value = config.get(name);
    const isLeftOut = value === undefined && !config.isNull(name);
    const fallback = isLeftOut && name !== "pad_token" ? endOfText : null;
    const token = isObject(value)
      ? new JsonFields(`tokenizer_config.json: ${name}`, value).string("content", null)
      : null;
    const content = token ?? (typeof value === "string" ? value : fallback);
    if (content !== null) tokens[name] = content;
  }
  return tokens;
}

export class ModelTokenizer {
  /** The largest id, plus one. The model's padded vocabulary may be larger. */
  readonly vocabSize: number;
  readonly eosTokenIds: readonly number[];
  /** The Jinja source of the model's chat template. */
  readonly chatTemplate: string | null;
  /** Another for requests with tools. */
  readonly toolTemplate: string | null;
  /** Maps "eos_token", "bos_token", ... to their text, for the template. */
  readonly namedTokens: Readonly<Record<string, string>>;
  /** The tokens that the model expects around a text. A chat's template writes its own. */
  readonly specialTokens: SpecialTokens;
  readonly #control: TokenFinder;
  /** Added tokens that are text. */
  readonly #added: TokenFinder;
  readonly #isHidden: (token: AddedToken) => boolean;
  readonly #bytesOf: (token: string) => Uint8Array;
  /** The bytes of the tokens requested so far. */
  readonly #bytes = new Map<number, Uint8Array>();
  /** Knows the vocabulary and the added tokens that are text and stand in normalized texts, but no control tokens. */
  readonly #bpe: Tokenizer;
  readonly #prefixing: readonly MetaspacePreTokenizer[];

  constructor({ json, chatTemplate, toolTemplate, tokenNames, eosTokenIds }: TokenizerSource) {
    // Some models don't mark their chat's tokens as special. An added token that the template writes is one, too.
    const written = `${chatTemplate ?? ""}\n${toolTemplate ?? ""}`;
    this.#isHidden = ({ special, content }) => special || (content.trim() !== "" && written.includes(content));
    const isControl = (token: AddedToken) =>
      this.#isHidden(token) || (TAG.test(token.content) && !HTML_TAG.test(token.content));
    const isNormalized = (token: AddedToken) => token.normalized && !token.single_word;
    const texts = json.added_tokens.filter((token) => !isControl(token));
    this.#control = new TokenFinder(json.added_tokens.filter(isControl));
    this.#added = new TokenFinder(texts.filter((token) => !isNormalized(token)));
    this.#bpe = createBpe({ ...json, added_tokens: texts.filter(isNormalized) });
    this.#prefixing = prefixingSteps(this.#bpe.pre_tokenizer);
    this.#bytesOf = json.alphabet === "bytes" ? bytesOfToken : bytesOfPiece;
    this.vocabSize = json.vocabSize;
    const eosToken = tokenNames["eos_token"];
    const eosTokenId = eosToken === undefined ? undefined : this.#control.split(eosToken)[0];
    this.eosTokenIds = [...new Set([...(typeof eosTokenId === "number" ? [eosTokenId] : []), ...eosTokenIds])];
    this.chatTemplate = chatTemplate;
    this.toolTemplate = toolTemplate;
    this.namedTokens = tokenNames;
    this.specialTokens = json.specialTokens;
  }

  get controlTokens(): readonly string[] {
    return this.#control.contents;
  }

  /** Encodes a text. Control tokens in it become their ids; no others are added. */
  encode(text: string): number[] {
    return this.splitControlTokens(text).flatMap((part, i) =>
      typeof part === "number" ? [part] : this.encodePlain(part, i === 0),
    );
  }

  /**
   * Encodes a text in which control tokens are ordinary text.
   * @param isStart false: it follows a control token
   */
  encodePlain(text: string, isStart = true): number[] {
    return this.#added
      .split(text.replace(LONE_SURROGATE, "\ufffd"))
      .flatMap((part, i) => (typeof part === "number" ? [part] : this.#encodeWords(part, isStart && i === 0)));
  }

  #encodeWords(text: string, isStart: boolean): number[] {
    for (const step of this.#prefixing) step.prepend_scheme = isStart ? "first" : "never";
    return this.#bpe.encode(text, { add_special_tokens: false }).ids;
  }

  /** Splits a text at its control tokens. Returns their ids and the texts between them, in order. */
  splitControlTokens(text: string): (string | number)[] {
    return this.#control.split(text);
  }

  /** Returns a token's bytes of UTF-8, perhaps part of a character. Control tokens and unknown ids have none. */
  tokenBytes(id: number): Uint8Array {
    const known = this.#bytes.get(id) ?? this.#findBytes(id);
    this.#bytes.set(id, known);
    return known;
  }

  #findBytes(id: number): Uint8Array {
    const control = this.#control.token(id);
    if (control === undefined) return this.#bytesOf(this.#added.token(id)?.content ?? this.#bpe.id_to_token(id) ?? "");
    const isShown = !this.#isHidden(control) || READABLE_TAG.test(control.content);
    return new TextEncoder().encode(isShown ? control.content : "");
  }

  /** Returns a token for display: control tokens by their names, parts of characters as U+FFFD. */
  tokenText(id: number): string {
    return (
      this.#control.token(id)?.content ?? new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.tokenBytes(id))
    );
  }
}

/** A surrogate without its partner, which UTF-8 can't write. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Tags that models write into their answers for programs to read. They are control tokens, so that no text can forge them. */
const READABLE_TAG = /^<\/?(think|tool_call|tool_response)>$/;

/** Added tokens like these steer a model ("<|fim_prefix|>"), so a text never becomes one, unless they are tags of HTML. */
const TAG = /^(<\S+>|\[\S+\])$/;
const HTML_TAG =
  /^<\/?(a|b|blockquote|body|br|caption|code|dd|div|dl|dt|em|h[1-6]|head|hr|html|i|img|li|ol|p|pre|s|small|span|strong|sub|sup|table|tbody|td|tfoot|th|thead|title|tr|u|ul)\/?>$/;

function createBpe(json: TokenizerJson): Tokenizer {
  try {
    const bpe = new Tokenizer({ ...json, post_processor: null }, {});
    if (bpe.pre_tokenizer) setPatterns(bpe.pre_tokenizer);
    return bpe;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ChorusError("model_unsupported", `This model's tokenizer cannot be used: ${reason}.`, null, { cause });
  }
}
