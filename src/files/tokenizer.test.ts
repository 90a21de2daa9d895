import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openFileList, type ModelFiles } from "./model-files.ts";
import { anyText } from "../../tests/any-text.ts";
import { filesInMemory } from "../../tests/files-in-memory.ts";
import { loadTokenizer } from "./tokenizer.ts";

function folder(path: string, names: readonly string[]): ModelFiles {
  return openFileList(names.map((name) => new File([readFileSync(`${path}/${name}`)], name)));
}

interface GoldenCase {
  readonly name: string;
  readonly text?: string;
  /** Used instead of a `text` with half a surrogate pair. */
  readonly utf16?: readonly number[];
  readonly ids: readonly number[];
}

const golden = JSON.parse(readFileSync("tests/fixtures/gpt2-tiny/tokenizer.golden.json", "utf8")) as {
  cases: GoldenCase[];
};
const textOf = ({ text, utf16 }: GoldenCase) => text ?? String.fromCharCode(...(utf16 ?? []));
const tinyJson = JSON.parse(readFileSync("tests/fixtures/gpt2-tiny/tokenizer.json", "utf8")) as Record<
  string,
  Record<string, unknown>
>;

const tiny = await loadTokenizer(folder("tests/fixtures/gpt2-tiny", ["tokenizer.json"]));
const tinyFromPair = await loadTokenizer(folder("tests/fixtures/gpt2-tiny", ["vocab.json", "merges.txt"]));
const chorusNames = ["tokenizer.json", "tokenizer_config.json"];
const chorus = await loadTokenizer(folder("public/models/chorus-chat", chorusNames), [0, 9]);

const decode = (ids: readonly number[], tokenizer = chorus) =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    Uint8Array.from(ids.flatMap((id) => [...tokenizer.tokenBytes(id)])),
  );

describe("encode", () => {
  test.each(golden.cases)("gives Hugging Face's ids for $name", (example) => {
    expect(tiny.encode(textOf(example))).toEqual(example.ids);
    expect(tinyFromPair.encode(textOf(example))).toEqual(example.ids);
  });

  test("and tokenBytes round-trip any text", () => {
    fc.assert(fc.property(anyText(60), (text) => decode(chorus.encodePlain(text)) === text));
  });

  test("treats Unicode's White_Space as white space: U+0085, but not U+FEFF", async () => {
    const { vocab, merges } = tinyJson["model"] as { vocab: object; merges: string[] };
    const model = { ...tinyJson["model"], vocab: { ...vocab, ĊĊ: 512 }, merges: [...merges, "Ċ Ċ"] };
    const tokenizer = await loadTokenizer(filesInMemory({ "tokenizer.json": { ...tinyJson, model } }));
    const [newline] = tokenizer.encode("\n");
    // Two line ends before more white space are one word; before anything else the second is a separate word.
    expect(tokenizer.encode("\n\n\u0085x")[0]).toBe(512);
    expect(tokenizer.encode("\n\n\uFEFFx").slice(0, 2)).toEqual([newline, newline]);
  });

  test("turns control tokens in a text into their ids; encodePlain treats them as text", () => {
    const text = "Hi<|user|>there<|endoftext|>";
    expect(chorus.encode(text)).toEqual([...chorus.encode("Hi"), 1, ...chorus.encode("there"), 0]);
    const plain = chorus.encodePlain(text);
    expect(plain.every((id) => id > 2)).toBe(true);
    expect(decode(plain)).toBe(text);
  });
});

describe("the tokens around a text", () => {
  const tokens = ["<bos>", "<eos>"].map((content, id) => ({ id, content, special: true }));
  const sequence = { Sequence: { id: "A", type_id: 0 } };
  const bos = { SpecialToken: { id: "<bos>", type_id: 0 } };
  const ids = (id: number) => ({ id: "", ids: [id], tokens: [] });
  const template = { type: "TemplateProcessing", single: [bos, sequence], special_tokens: { "<bos>": ids(0) } };
  const names = { bos_token: "<bos>", eos_token: "<eos>" };
  const read = async (post_processor: unknown, config: object = {}) => {
    const json = { ...tinyJson, added_tokens: tokens, post_processor };
    const files = { "tokenizer.json": json, "tokenizer_config.json": { ...names, ...config } };
    return (await loadTokenizer(filesInMemory(files))).specialTokens;
  };

  test("are those of tokenizer.json's template, alone or in a sequence", async () => {
    expect(await read(template)).toEqual({ before: [0], after: [] });
    expect(await read({ type: "Sequence", processors: [{ type: "ByteLevel" }, template] })).toEqual({
      before: [0],
      after: [],
    });
    expect(await read({ type: "ByteLevel" })).toEqual({ before: [], after: [] });
    expect(await read(null)).toEqual({ before: [], after: [] });
  });

  test("follow the config of Llama's and Gemma's tokenizers, and of no others", async () => {
    const llama = { tokenizer_class: "LlamaTokenizer", add_bos_token: false, add_eos_token: true };
    expect(await read(template, llama)).toEqual({ before: [], after: [1] });
    expect(await read(null, { tokenizer_class: "GemmaTokenizerFast", add_bos_token: true })).toEqual({
      before: [0],
      after: [],
    });
    expect(await read(template, { ...llama, tokenizer_class: "PreTrainedTokenizerFast" })).toEqual({
      before: [0],
      after: [],
    });
  });

  test("have ids, or the file is refused", async () => {
    const message = 'tokenizer.json: post_processor has "<bos>" without its ids.';
    await expect(read({ ...template, special_tokens: {} })).rejects.toMatchObject({ code: "model_invalid", message });
  });
});

describe("tokens as text", () => {
  test("control tokens and ids beyond the vocabulary have no bytes", () => {
    expect([0, 1, 2, 5000].map((id) => chorus.tokenBytes(id).length)).toEqual([0, 0, 0, 0]);
    expect([0, 1, 5000].map((id) => chorus.tokenText(id))).toEqual(["<|endoftext|>", "<|user|>", ""]);
  });

  test("all 256 bytes are tokens of the alphabet", () => {
    const singles = Array.from({ length: 256 }, (_, id) => tiny.tokenBytes(id));
    expect(new Set(singles.map((bytes) => bytes[0])).size).toBe(256);
    expect(singles.every((bytes) => bytes.length === 1)).toBe(true);
    expect(tiny.tokenText(220)).toBe(" ");
  });

  test("part of a character is shown as U+FFFD", () => {
    const [first] = chorus.encodePlain("\u{1F9A5}");
    expect(chorus.tokenText(first!)).toBe("\uFFFD");
  });
});

describe("the tokenizer's files", () => {
  test("give the embedded model's vocabulary, end of text, template and named tokens", () => {
    expect(chorus.vocabSize).toBe(4096);
    expect(chorus.eosTokenIds).toEqual([0, 9]);
    expect(chorus.controlTokens).toEqual(["<|endoftext|>", "<|user|>", "<|assistant|>"]);
    expect(chorus.chatTemplate).toContain("<|assistant|>");
    expect(chorus.namedTokens).toMatchObject({ bos_token: "<|endoftext|>", eos_token: "<|endoftext|>" });
  });

  test.each([tiny, tinyFromPair])("need no config for GPT-2's end of text", (tokenizer) => {
    expect(tokenizer.vocabSize).toBe(512);
    expect(tokenizer.eosTokenIds).toEqual([511]);
    expect(tokenizer.chatTemplate).toBeNull();
    expect(tokenizer.namedTokens).toEqual({
      bos_token: "<|endoftext|>",
      eos_token: "<|endoftext|>",
      unk_token: "<|endoftext|>",
    });
  });

  test("may have the template in a separate file, or one of several", async () => {
    const own = await loadTokenizer(filesInMemory({ "tokenizer.json": tinyJson, "chat_template.jinja": "own" }));
    expect(own.chatTemplate).toBe("own");
    const chat_template = [
      { name: "tool_use", template: "tools" },
      { name: "default", template: "plain" },
    ];
    const several = await loadTokenizer(
      filesInMemory({ "tokenizer.json": tinyJson, "tokenizer_config.json": { chat_template } }),
    );
    expect(several).toMatchObject({ chatTemplate: "plain", toolTemplate: "tools" });
    // As in transformers the file counts where there are both: a template is mended there.
    const both = {
      "tokenizer.json": tinyJson,
      "tokenizer_config.json": { chat_template },
      "chat_template.jinja": "own",
    };
    expect(await loadTokenizer(filesInMemory(both))).toMatchObject({ chatTemplate: "own", toolTemplate: null });
  });

  test("may have named tokens that are objects or null", async () => {
    const config = { bos_token: null, eos_token: { content: "<|endoftext|>", lstrip: false } };
    const tokenizer = await loadTokenizer(
      filesInMemory({ "tokenizer.json": tinyJson, "tokenizer_config.json": config }),
    );
    expect(tokenizer.namedTokens).toEqual({ eos_token: "<|endoftext|>", unk_token: "<|endoftext|>" });
    expect(tokenizer.eosTokenIds).toEqual([511]);
  });

  test("added tokens: text stays text, and what the chat template writes is a control token", async () => {
    const added_tokens = [
      { id: 511, content: "<|endoftext|>", special: true, rstrip: true },
      { id: 512, content: "<turn>", special: false, lstrip: true },
      { id: 513, content: "Ω≈", special: false },
    ];
    const json = { ...tinyJson, added_tokens };
    const tokenizer = await loadTokenizer(
      filesInMemory({ "tokenizer.json": json, "chat_template.jinja": "<turn>{{ 1 }}" }),
    );
    expect(tokenizer.vocabSize).toBe(514);
    expect(tokenizer.controlTokens).toEqual(["<|endoftext|>", "<turn>"]);
    expect(tokenizer.encode("a <turn>Ω≈<|endoftext|> b")).toEqual([64, 512, 513, 511, 65]);
    expect(decode([64, 512, 513], tokenizer)).toBe("aΩ≈");
  });

  test("tags that answers hold are text, though no message can forge them", async () => {
    const added_tokens = ["<think>", "</think>"].map((content, i) => ({ id: 512 + i, content, special: false }));
    const json = { ...tinyJson, added_tokens };
    const tokenizer = await loadTokenizer(
      filesInMemory({ "tokenizer.json": json, "chat_template.jinja": "<think></think>" }),
    );
    expect(tokenizer.controlTokens).toEqual(["<think>", "</think>"]);
    expect(decode([512, 64, 513], tokenizer)).toBe("<think>a</think>");
  });

  test("tokens that only tokenizer_config.json adds are there, too", async () => {
    const token = (content: string) => ({ content, special: true });
    const added_tokens_decoder = {
      511: token("<|other|>"),
      512: token("<|im_start|>"),
      513: token("<|im_end|>"),
      600: token("<|endoftext|>"),
    };
    const config = { added_tokens_decoder, eos_token: "<|im_end|>" };
    const tokenizer = await loadTokenizer(
      filesInMemory({ "tokenizer.json": tinyJson, "tokenizer_config.json": config }),
    );
    expect(tokenizer.encode("<|im_start|>a<|im_end|><|endoftext|>")).toEqual([512, 64, 513, 511]);
    expect(tokenizer.eosTokenIds).toEqual([513]);
    expect(tokenizer.vocabSize).toBe(514);
  });

  test("a text never becomes an added token that looks like a tag, though it is shown; HTML's tags are text", async () => {
    const contents = ["<|fim_prefix|>", "<mask>", "[multimodal]", "<table>", "</h1>", "Ω≈", "<unused1>"];
    const added_tokens = contents.map((content, i) => ({ id: 512 + i, content, special: false }));
    const tokenizer = await loadTokenizer(filesInMemory({ "tokenizer.json": { ...tinyJson, added_tokens } }));
    const found = tokenizer.encodePlain(contents.join("")).filter((id) => id >= 512);
    expect(found.map((id) => contents[id - 512])).toEqual(["<table>", "</h1>", "Ω≈"]);
    expect(tokenizer.encode(contents.join(""))).toEqual(contents.map((_, i) => 512 + i));
    expect(contents.map((_, i) => decode([512 + i], tokenizer))).toEqual(contents);
  });

  test("a token that is a single word stands alone", async () => {
    const added_tokens = [
      { id: 512, content: "abc", special: false, single_word: true },
      { id: 513, content: "<|x|>", special: true, single_word: true },
    ];
    const tokenizer = await loadTokenizer(filesInMemory({ "tokenizer.json": { ...tinyJson, added_tokens } }));
    const plain = (text: string) => tiny.encodePlain(text);
    expect(tokenizer.encode("abc xabc abcé-abc-_abc")).toEqual([512, ...plain(" xabc abcé-"), 512, ...plain("-_abc")]);
    expect(tokenizer.encode("a<|x|> <|x|>")).toEqual([...plain("a<|x|> "), 513]);
  });

  test("where one control token begins another, the longer one counts", async () => {
    const added_tokens = ["<|a", "<|a|>", "<|"].map((content, i) => ({ id: 600 + i, content, special: true }));
    const tokenizer = await loadTokenizer(filesInMemory({ "tokenizer.json": { ...tinyJson, added_tokens } }));
    expect(tokenizer.encode("<|a|><|a<|")).toEqual([601, 600, 602]);
  });

  test("vocab.json and merges.txt take added tokens from tokenizer_config.json", async () => {
    const files = filesInMemory({
      "vocab.json": { a: 0, b: 1, ab: 2, "<|endoftext|>": 3 },
      "merges.txt": "#version: 0.2\r\na b\r\n",
      "tokenizer_config.json": { added_tokens_decoder: { 4: { content: "<pad>", special: true } } },
    });
    expect((await loadTokenizer(files)).encode("abb<pad><|endoftext|>")).toEqual([2, 1, 4, 3]);
  });
});
