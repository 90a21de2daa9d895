// Text to token ids and back. BPE is @huggingface/tokenizers'; which strings are control tokens is decided
// here, because a chat's text must never become one (see api/chat-format.ts).

import {
  ByteLevelPreTokenizer,
  DigitsPreTokenizer,
  SequencePreTokenizer,
  Tokenizer,
  type PreTokenizer,
} from "@huggingface/tokenizers";

import { ChorusError } from "../protocol/errors.ts";
import { bytesOfPiece, bytesOfToken } from "./byte-alphabet.ts";
import { ControlTokens } from "./control-tokens.ts";
import { isObject, JsonFields } from "./json-fields.ts";
import type { ModelFiles } from "./model-files.ts";
import { configuredSpecialTokens, type SpecialTokens } from "./special-tokens.ts";
import { readTokenizerJson, type TokenizerJson } from "./tokenizer-json.ts";

/** All that a tokenizer is made of, as plain data. */
export interface TokenizerSource {
  readonly json: TokenizerJson;
  readonly chatTemplate: string | null;
  /** Maps "eos_token", "bos_token", ... to their text. */
  readonly tokenNames: Readonly<Record<string, string>>;
  readonly eosTokenIds: readonly number[];
}

/**
 * @param eosTokenIds end-of-text ids that the model's other files name, which may be on their way
 * @throws ChorusError model_not_found, model_invalid, model_unsupported
 */
export async function readTokenizer(
  files: ModelFiles,
  eosTokenIds: readonly number[] | Promise<readonly number[]>,
): Promise<TokenizerSource> {
  const readingConfig = readConfig(files);
  const [config, json, chatTemplate, ids] = await Promise.all([
    readingConfig,
    readTokenizerJson(files, readingConfig),
    readingConfig.then((read) => readChatTemplate(files, read)),
    eosTokenIds,
  ]);
  const tokenNames = namedTokens(json, config);
  const idOf = (name: string) => json.added_tokens.find(({ content }) => content === tokenNames[name])?.id;
  const specialTokens = configuredSpecialTokens(json.specialTokens, config, idOf);
  return { json: { ...json, specialTokens }, chatTemplate, tokenNames, eosTokenIds: ids };
}

async function readConfig(files: ModelFiles): Promise<JsonFields> {
  return new JsonFields("tokenizer_config.json", (await files.tryReadJson("tokenizer_config.json")) ?? {});
}

/** As readTokenizer, ready to use. */
export async function loadTokenizer(files: ModelFiles, eosTokenIds: readonly number[] = []): Promise<ModelTokenizer> {
  return new ModelTokenizer(await readTokenizer(files, eosTokenIds));
}

/** Returns the same tokenizer without what only encoding needs. It knows the tokens' texts. */
export function withoutEncoder(source: TokenizerSource): TokenizerSource {
  const { json } = source;
  return { ...source, json: { ...json, normalizer: null, pre_tokenizer: null, model: { ...json.model, merges: [] } } };
}

/** The template is in tokenizer_config.json, alone or among several with names, or in chat_template.jinja. */
async function readChatTemplate(files: ModelFiles, config: JsonFields): Promise<string | null> {
  const inConfig = config.get("chat_template");
  if (typeof inConfig === "string") return inConfig;
  if (Array.isArray(inConfig)) {
    const named: unknown = inConfig.find((entry) => isObject(entry) && entry["name"] === "default");
    if (isObject(named)) return new JsonFields("tokenizer_config.json: chat_template", named).string("template", null);
  }
  return (await files.tryReadText("chat_template.jinja")) ?? null;
}

/** Returns the tokens that templates use by name. GPT-2's "<|endoftext|>" replaces names missing from the files. */
function namedTokens(json: TokenizerJson, config: JsonFields): Record<string, string> {
  const endOfText = Object.hasOwn(json.model.vocab, "<|endoftext|>") ? "<|endoftext|>" : null;
  const tokens: Record<string, string> = {};
  for (const name of ["bos_token", "eos_token", "unk_token", "pad_token"]) {
    const value = config.get(name);
    const fallback = value === undefined && name !== "pad_token" ? endOfText : null;
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
  /** Maps "eos_token", "bos_token", ... to their text, for the template. */
  readonly namedTokens: Readonly<Record<string, string>>;
  /** What the model expects around a text. A chat's template writes its own. */
  readonly specialTokens: SpecialTokens;
  readonly #control: ControlTokens;
  readonly #bytesOf: (token: string) => Uint8Array;
  /** The bytes of the tokens that were asked for so far. */
  readonly #bytes = new Map<number, Uint8Array>();
  /** Knows the vocabulary and the added tokens that are text, but no control tokens. */
  readonly #bpe: Tokenizer;

  constructor({ json, chatTemplate, tokenNames, eosTokenIds }: TokenizerSource) {
    // Some models don't mark their chat's tokens as special. An added token that the template writes is one, too.
    const isControl = ({ special, content }: TokenizerJson["added_tokens"][number]) =>
      special || (chatTemplate?.includes(content) && content.trim() !== "");
    this.#control = new ControlTokens(json.added_tokens.filter(isControl));
    this.#bpe = createBpe({ ...json, added_tokens: json.added_tokens.filter((token) => !isControl(token)) });
    this.#bytesOf = json.alphabet === "bytes" ? bytesOfToken : bytesOfPiece;
    this.vocabSize = json.vocabSize;
    const eosToken = tokenNames["eos_token"];
    const eosTokenId = eosToken === undefined ? undefined : this.#control.split(eosToken)[0];
    this.eosTokenIds = [...new Set([...(typeof eosTokenId === "number" ? [eosTokenId] : []), ...eosTokenIds])];
    this.chatTemplate = chatTemplate;
    this.namedTokens = tokenNames;
    this.specialTokens = json.specialTokens;
  }

  get controlTokens(): readonly string[] {
    return this.#control.contents;
  }

  /** Encodes a text. Control tokens in it become their ids; no others are added. */
  encode(text: string): number[] {
    return this.splitControlTokens(text).flatMap((part) =>
      typeof part === "number" ? [part] : this.encodePlain(part),
    );
  }

  /** Encodes a text in which control tokens are ordinary text. */
  encodePlain(text: string): number[] {
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
    const control = this.#control.content(id);
    if (control !== undefined) return new TextEncoder().encode(READABLE_TAG.test(control) ? control : "");
    return this.#bytesOf(this.#bpe.id_to_token(id) ?? "");
  }

  /** Returns a token for display: control tokens by their names, parts of characters as U+FFFD. */
  tokenText(id: number): string {
    return this.#control.content(id) ?? new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.tokenBytes(id));
  }
}

/** Tags that models write into their answers for others to read. Nobody else may forge them: they are control tokens. */
const READABLE_TAG = /^<\/?(think|tool_call|tool_response)>$/;

/**
 * GPT-2's pattern of words. Hugging Face's white space is Unicode's White_Space. The library's pattern has \s, which in
 * JavaScript includes U+FEFF and lacks U+0085.
 */
const WORDS =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/** As WORDS: the library's digits are ASCII's, Hugging Face's are whatever Unicode calls a number. */
const DIGITS = { one: /\P{N}+|\p{N}/gu, several: /\P{N}+|\p{N}+/gu };

function setPatterns(step: PreTokenizer): void {
  if (step instanceof ByteLevelPreTokenizer) step.pattern = WORDS;
  if (step instanceof DigitsPreTokenizer)
    step.pattern = step.pattern.source.endsWith("+") ? DIGITS.several : DIGITS.one;
  if (step instanceof SequencePreTokenizer) for (const part of step.tokenizers) if (part) setPatterns(part);
}

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
