// A GGUF file's tokenizer, as Hugging Face's files would describe it.

import type { ChorusError } from "../../protocol/errors.ts";
import { brief, invalidFile, JsonFields, unsupportedFile } from "../json-fields.ts";
import { isolated, wordsWith } from "../word-patterns.ts";
import type { GgufFile } from "./gguf-file.ts";

type Json = Readonly<Record<string, unknown>>;

/** Contents of the files by their names. */
export type TokenizerFiles = Readonly<
  Record<"tokenizer.json" | "tokenizer_config.json" | "generation_config.json", unknown>
>;

/** Values of tokenizer.ggml.token_type. An unused token fills up the vocabulary: no text has it. */
const [UNKNOWN, CONTROL, USER_DEFINED, UNUSED] = [2, 3, 4, 5] as const;

/** Ends of turns by their names: not every file declares them, or says that they are control tokens. */
const ENDS_OF_TURN: readonly unknown[] = [
  "<|im_end|>",
  "<|eot_id|>",
  "<|eom_id|>",
  "<end_of_turn>",
  "<|end|>",
  "<|end_of_text|>",
];

interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly vocab: Readonly<Record<string, number>>;
  readonly added: readonly Json[];
}

/**
 * @param rows of the token embedding
 * @throws ChorusError model_invalid; model_unsupported for another kind of tokenizer, naming the pair
 */
export function tokenizerFilesOf(gguf: GgufFile, rows: number): TokenizerFiles {
  const fields = new JsonFields(gguf.file, Object.fromEntries(gguf.pairs));
  const vocabulary = readVocabulary(gguf, fields, rows);
  const kind = fields.string("tokenizer.ggml.model", "");
  if (kind !== "gpt2" && kind !== "llama")
    throw unsupported(gguf, `tokenizer.ggml.model ${brief(kind)}`, '"gpt2" and "llama"');
  const { json, addsBos } =
    kind === "gpt2" ? byteLevel(gguf, fields, vocabulary) : sentencePiece(gguf, fields, vocabulary);
  const idOf = (name: string) => tokenId(gguf, fields, vocabulary, name);
  // Some files name a token that isn't there where none is used.
  const idIfAny = (name: string) => {
    const id = fields.nonNegativeInteger(keyOfId(name), null);
    return id !== null && id < vocabulary.tokens.length ? id : null;
  };
  const [bos, eos] = [idOf("bos"), idOf("eos")];
  const before = fields.boolean("tokenizer.ggml.add_bos_token", addsBos) ? bos : null;
  const after = fields.boolean("tokenizer.ggml.add_eos_token", false) ? eos : null;
  const named = (id: number | null) => (id === null ? null : vocabulary.tokens[id]);
  const declared = [eos, idOf("eot"), idOf("eom")];
  return {
    "tokenizer.json": { ...json, added_tokens: vocabulary.added, post_processor: around(before, after) },
    "tokenizer_config.json": {
      bos_token: named(bos),
      eos_token: named(eos),
      unk_token: named(idIfAny("unknown")),
      pad_token: named(idIfAny("padding")),
      chat_template: templates(fields, gguf),
    },
    "generation_config.json": { eos_token_id: endsOf(declared, vocabulary.tokens) },
  };
}

function endsOf(declared: readonly (number | null)[], tokens: readonly unknown[]): number[] {
  const named = tokens.flatMap((token, id) => (ENDS_OF_TURN.includes(token) ? [id] : []));
  return [...new Set([...declared, ...named])].filter((id) => id !== null);
}

/** Returns what a file says of chats, for a model whose tokenizer is in other files. */
export function chatFilesOf(gguf: GgufFile): Partial<TokenizerFiles> {
  const fields = new JsonFields(gguf.file, Object.fromEntries(gguf.pairs));
  const declared = ["eos", "eot", "eom"].map((name) => fields.nonNegativeInteger(keyOfId(name), null));
  return {
    "tokenizer_config.json": { chat_template: templates(fields, gguf) },
    "generation_config.json": { eos_token_id: endsOf(declared, fields.array("tokenizer.ggml.tokens", []) ?? []) },
  };
}

function readVocabulary(gguf: GgufFile, fields: JsonFields, rows: number): Vocabulary {
  const tokens = list(gguf, fields, "tokenizer.ggml.tokens", "string");
  if (tokens.length !== rows)
    throw invalid(gguf, `tokenizer.ggml.tokens has ${tokens.length} tokens, but token_embd.weight ${rows} rows`);
  const hasTypes = fields.has("tokenizer.ggml.token_type");
  const types = hasTypes ? list(gguf, fields, "tokenizer.ggml.token_type", "number") : tokens.map(() => 1);
  if (types.length !== tokens.length)
    throw invalid(gguf, `tokenizer.ggml.token_type has ${types.length} values for ${tokens.length} tokens`);
  const vocab = Object.create(null) as Record<string, number>; // a token may be called "__proto__"
  const added: Json[] = [];
  for (const [id, token] of tokens.entries()) {
    const type = types[id];
    if (type === UNUSED || token === "") continue;
    const isSpecial = type === CONTROL || type === UNKNOWN || ENDS_OF_TURN.includes(token);
    if (isSpecial || type === USER_DEFINED) added.push({ id, content: token, special: isSpecial, normalized: false });
    else vocab[token] = id;
  }
  return { tokens, types, vocab, added };
}

function list<Kind extends "string" | "number">(gguf: GgufFile, fields: JsonFields, key: string, kind: Kind) {
  const values = fields.array(key, null);
  if (values === null) throw invalid(gguf, `${key} is missing`);
  if (!values.every((value) => typeof value === kind)) throw invalid(gguf, `${key} must be a list of ${kind}s`);
  return values as readonly (Kind extends "string" ? string : number)[];
}

const keyOfId = (name: string) => `tokenizer.ggml.${name}_token_id`;

/** Returns the token that tokenizer.ggml.NAME_token_id names; null without one. */
function tokenId(gguf: GgufFile, fields: JsonFields, { tokens }: Vocabulary, name: string): number | null {
  const key = keyOfId(name);
  const id = fields.nonNegativeInteger(key, null);
  if (id !== null && id >= tokens.length) throw invalid(gguf, `${key} is ${id}, but there are ${tokens.length} tokens`);
  return id;
}

/** How a text is cut into words. */
interface Words {
  /** Steps before the one that writes bytes as characters. */
  readonly steps: readonly Json[];
  /** Whether GPT-2's pattern cuts as well. */
  readonly asGpt2: boolean;
  /** Whether a word that is a token is taken whole, whatever its merges. Such tokenizers begin a text with a token, too. */
  readonly wholeWords?: true;
}

const GPT_2: Words = { steps: [], asGpt2: true };
const DIGITS: Words = { steps: [isolated("\\p{N}")], asGpt2: true };

/** Words that begin with capitals or have none, and what follows a word: GPT-4o's and Tekken's patterns. */
const casedWordsOf = (suffix: string, number: string): string => {
  const [upper, lower] = ["[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]", "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"];
  const before = "[^\\r\\n\\p{L}\\p{N}]?";
  return (
    `${before}${upper}*${lower}+${suffix}|${before}${upper}+${lower}*${suffix}|${number}` +
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
  );
};

const LLAMA_3: Words = { steps: [isolated(wordsWith("\\p{N}{1,3}"))], asGpt2: false, wholeWords: true };
const LLAMA_3_MERGED: Words = { steps: LLAMA_3.steps, asGpt2: false };
const QWEN_2: Words = { steps: [isolated(wordsWith("\\p{N}"))], asGpt2: false };

const HUNYUAN_STEPS = [
  isolated("\\p{N}{1,3}"),
  isolated("[一-龥぀-ゟ゠-ヿ]+"),
  isolated(
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+" +
      "| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  ),
];

const allOf = (words: Words, ...names: readonly string[]) => names.map((name) => [name, words] as const);

/** By tokenizer.ggml.pre. */
const WORDS = new Map<string, Words>([
  ...allOf(GPT_2, "gpt-2", "mellum", "olmo", "exaone4"),
  ...allOf(LLAMA_3, "llama-bpe", "llama3", "llama-v3", "lfm2", "falcon3", "midm-2.0", "pixtral"),
  ...allOf(LLAMA_3_MERGED, "dbrx", "smaug-bpe"),
  ...allOf(QWEN_2, "qwen2", "deepseek-r1-qwen", "hunyuan", "megrez"),
  ...allOf(DIGITS, "smollm", "refact"),
  ["qwen35", { steps: [isolated(wordsWith("\\p{N}", "\\p{L}\\p{M}"))], asGpt2: false }],
  ["gpt-4o", { steps: [isolated(casedWordsOf("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "\\p{N}{1,3}"))], asGpt2: false }],
  ["tekken", { steps: [isolated(casedWordsOf("", "\\p{N}"))], asGpt2: false, wholeWords: true }],
  ["hunyuan-dense", { steps: HUNYUAN_STEPS, asGpt2: false }],
]);

function byteLevel(gguf: GgufFile, fields: JsonFields, { vocab, added }: Vocabulary) {
  const pre = fields.string("tokenizer.ggml.pre", "");
  const words = WORDS.get(pre);
  if (!words) throw unsupported(gguf, `tokenizer.ggml.pre ${brief(pre)}`, [...WORDS.keys()].join(", "));
  // A token that is taken whole needs no merges.
  const whole = new Set(added.map(({ content }) => content));
  const merges = list(gguf, fields, "tokenizer.ggml.merges", "string").filter(
    (merge) => !whole.has(merge.replace(" ", "")),
  );
  const bytes = { type: "ByteLevel", add_prefix_space: false, use_regex: words.asGpt2 };
  return {
    json: {
      model: { type: "BPE", vocab, merges, ignore_merges: words.wholeWords === true },
      pre_tokenizer: { type: "Sequence", pretokenizers: [...words.steps, bytes] },
      decoder: { type: "ByteLevel" },
    },
    addsBos: words.wholeWords === true,
  };
}

function sentencePiece(gguf: GgufFile, fields: JsonFields, { vocab, tokens, types }: Vocabulary) {
  const scores = list(gguf, fields, "tokenizer.ggml.scores", "number");
  if (scores.length !== tokens.length)
    throw invalid(gguf, `tokenizer.ggml.scores has ${scores.length} values for ${tokens.length} tokens`);
  if (fields.has("tokenizer.ggml.precompiled_charsmap"))
    throw unsupported(gguf, "tokenizer.ggml.precompiled_charsmap", "texts that stay as they are");
  const addsSpace = fields.boolean("tokenizer.ggml.add_space_prefix", true);
  const space = { type: "Replace", pattern: { String: " " }, content: "▁" };
  const unknown = types.indexOf(UNKNOWN);
  return {
    json: {
      model: {
        type: "BPE",
        vocab,
        merges: mergesByScore(vocab, scores),
        byte_fallback: true,
        fuse_unk: true,
        unk_token: unknown < 0 ? null : tokens[unknown],
      },
      normalizer: { type: "Sequence", normalizers: [...(addsSpace ? [{ type: "Prepend", prepend: "▁" }] : []), space] },
      decoder: { type: "Sequence", decoders: [{ type: "ByteFallback" }] },
    },
    addsBos: true,
  };
}

/** Longer pieces are not looked for: cutting a hostile one everywhere would take hours. Real ones have up to 48 characters. */
const LONGEST_PIECE = 256;

/** Returns the pairs of tokens that make a token, the likeliest first: SentencePiece merges by its tokens' scores. */
function mergesByScore(vocab: Readonly<Record<string, number>>, scores: readonly number[]): string[][] {
  const merges: { readonly pair: string[]; readonly id: number }[] = [];
  /** The tokens with which this one begins: in order, they come before it. */
  const beginnings: string[] = [];
  for (const token of Object.keys(vocab).sort()) {
    if (token.length > LONGEST_PIECE) continue;
    while (!token.startsWith(beginnings.at(-1) ?? "")) beginnings.pop();
    for (const left of beginnings) {
      const right = token.slice(left.length);
      if (Object.hasOwn(vocab, right)) merges.push({ pair: [left, right], id: vocab[token] ?? 0 });
    }
    beginnings.push(token);
  }
  const scoreOf = ({ id }: { readonly id: number }) => scores[id] ?? 0;
  return merges.sort((a, b) => scoreOf(b) - scoreOf(a) || a.id - b.id).map(({ pair }) => pair);
}

/** Returns the step that puts tokens around a text. */
function around(before: number | null, after: number | null): Json | null {
  if (before === null && after === null) return null;
  const piece = (id: number | null) => (id === null ? [] : [{ SpecialToken: { id: String(id), type_id: 0 } }]);
  const ids = [before, after].filter((id) => id !== null);
  return {
    type: "TemplateProcessing",
    single: [...piece(before), { Sequence: { id: "A", type_id: 0 } }, ...piece(after)],
    special_tokens: Object.fromEntries(ids.map((id) => [String(id), { id: String(id), ids: [id] }])),
  };
}

/** Returns the chat templates as tokenizer_config.json has them: one, or several with names. */
function templates(fields: JsonFields, gguf: GgufFile): unknown {
  const key = "tokenizer.chat_template";
  const main = fields.string(key, null);
  const named = [...gguf.pairs.keys()]
    .filter((name) => name.startsWith(`${key}.`))
    .map((name) => ({ name: name.slice(key.length + 1), template: fields.string(name, "") }));
  return named.length === 0 || main === null ? main : [{ name: "default", template: main }, ...named];
}

function invalid(gguf: GgufFile, what: string): ChorusError {
  return invalidFile(gguf.file, `${gguf.file}: ${what}.`);
}

function unsupported(gguf: GgufFile, what: string, known: string): ChorusError {
  return unsupportedFile(gguf.file, `${gguf.file} has ${what}; supported are ${known}.`);
}
