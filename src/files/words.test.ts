import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../../tests/any-text.ts";
import { filesInMemory } from "../../tests/files-in-memory.ts";
import { loadTokenizer, type ModelTokenizer } from "./tokenizer.ts";
import { betweenPieces } from "./words.ts";

const tinyJson = JSON.parse(readFileSync("tests/fixtures/gpt2-tiny/tokenizer.json", "utf8")) as Record<
  string,
  Record<string, unknown>
>;

const decode = (ids: readonly number[], tokenizer: ModelTokenizer) =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    Uint8Array.from(ids.flatMap((id) => [...tokenizer.tokenBytes(id)])),
  );

describe("pre-tokenizers of other families", () => {
  /** The tiny vocabulary, cut into words in another way. "12" is a token of its own. */
  const withWords = (pre_tokenizer: unknown) => {
    const { vocab, merges } = tinyJson["model"] as { vocab: object; merges: string[] };
    const model = { ...tinyJson["model"], vocab: { ...vocab, "12": 512, ĊĊ: 513 }, merges: [...merges, "1 2", "Ċ Ċ"] };
    return loadTokenizer(filesInMemory({ "tokenizer.json": { ...tinyJson, model, pre_tokenizer } }));
  };
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  const split = (Regex: string) => ({ type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false });
  const QWEN =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  const wordsOf = (pre_tokenizers: unknown[]) => withWords({ type: "Sequence", pretokenizers: pre_tokenizers });

  test("SmolLM's: every digit is a word, whatever script it is of", async () => {
    const digits = await wordsOf([{ type: "Digits", individual_digits: true }, byteLevel]);
    const plain = await withWords(byteLevel);
    expect(plain.encode("12")).toEqual([512]);
    expect(digits.encode("12")).toEqual([...plain.encode("1"), ...plain.encode("2")]);
    expect(decode(digits.encode("a\u0661\u0662b"), digits)).toBe("a\u0661\u0662b");
  });

  test("Qwen's: a digit is a word, and line ends stay together", async () => {
    const qwen = await wordsOf([split(QWEN), { ...byteLevel, use_regex: false }]);
    expect(qwen.encode("12")).toHaveLength(2);
    expect(qwen.encode("\n\n")).toEqual([513]);
    // U+0085 is white space: with it the line ends are not the last of their kind.
    expect(decode(qwen.encode("x\n\n\u0085y I'M"), qwen)).toBe("x\n\n\u0085y I'M");
  });

  test("both turn every text into tokens and back", async () => {
    const tokenizers = [
      await wordsOf([{ type: "Digits", individual_digits: true }, byteLevel]),
      await wordsOf([split(QWEN), { ...byteLevel, use_regex: false }]),
    ];
    fc.assert(
      fc.property(anyText(60), (text) =>
        tokenizers.every((tokenizer) => decode(tokenizer.encodePlain(text), tokenizer) === text),
      ),
    );
  });
});

describe("a SentencePiece vocabulary with byte fallback", async () => {
  const pieces = ["<unk>", "<bos>", "<eos>", "\u2581", "a", "b", "ab", "\u2581ab"];
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  const vocab = Object.fromEntries([...pieces, ...bytes].map((piece, id) => [piece, id]));
  const gemma = {
    normalizer: { type: "Replace", pattern: { String: " " }, content: "\u2581" },
    pre_tokenizer: null,
    decoder: { type: "Sequence", decoders: [{ type: "ByteFallback" }, { type: "Fuse" }] },
    model: {
      type: "BPE",
      vocab,
      merges: ["a b", "\u2581 ab"],
      byte_fallback: true,
      fuse_unk: true,
      unk_token: "<unk>",
    },
    added_tokens: ["<bos>", "<eos>"].map((content) => ({ id: vocab[content], content, special: true })),
  };
  const tokenizer = await loadTokenizer(filesInMemory({ "tokenizer.json": gemma }));

  test("writes spaces as its own character, and what it has no token for as bytes", () => {
    expect(tokenizer.encode("ab ab")).toEqual([6, 7]);
    expect(tokenizer.encode("<bos>a\n")).toEqual([1, 4, pieces.length + 10]);
    expect(tokenizer.encodePlain("\u00e9")).toEqual([pieces.length + 0xc3, pieces.length + 0xa9]);
  });

  /** This vocabulary with changes, as a tokenizer. */
  const changed = (change: object, tokens: object[] = []) =>
    loadTokenizer(
      filesInMemory({ "tokenizer.json": { ...gemma, ...change, added_tokens: [...gemma.added_tokens, ...tokens] } }),
    );
  const idOf = (piece: string) => vocab[piece] ?? -1;

  test("has U+FFFD for half of a surrogate pair", () => {
    expect(tokenizer.encodePlain("a\ude00")).toEqual(tokenizer.encodePlain("a\ufffd"));
  });

  test("finds added tokens before the text is normalized where they say so", async () => {
    const normalizer = { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "\u2581" }, gemma.normalizer] };
    const user = { id: 900, content: "||user||", special: false, rstrip: true };
    const raw = await changed({ normalizer }, [{ ...user, normalized: false }]);
    expect(raw.encode("a||user||  b")).toEqual([idOf("\u2581"), idOf("a"), 900, idOf("\u2581"), idOf("b")]);
    const normalized = await changed({ normalizer }, [{ ...user, normalized: true }]);
    expect(normalized.encode("a||user||b")).not.toContain(900);
  });

  test.each(["first", "always", "never"])(
    "Metaspace puts its space where its scheme says: %s",
    async (prepend_scheme) => {
      const pre_tokenizer = { type: "Metaspace", replacement: "\u2581", prepend_scheme, split: false };
      const spaced = await changed({ normalizer: null, pre_tokenizer });
      const at = (where: string) => (prepend_scheme === "always" || prepend_scheme === where ? [idOf("\u2581")] : []);
      expect(spaced.encode("a<bos>b<eos>a")).toEqual([
        ...at("first"),
        idOf("a"),
        1,
        ...at("later"),
        idOf("b"),
        2,
        ...at("later"),
        idOf("a"),
      ]);
      expect(spaced.encode("<bos>a")).toEqual([1, ...at("later"), idOf("a")]);
    },
  );

  test("Metaspace splits before each space, unless it says otherwise", async () => {
    const model = {
      ...gemma.model,
      vocab: { ...vocab, "\u2581\u2581": 700 },
      merges: ["\u2581 \u2581", ...gemma.model.merges],
    };
    const metaspace = { type: "Metaspace", replacement: "\u2581", prepend_scheme: "never" };
    const splitting = await changed({ model, normalizer: null, pre_tokenizer: metaspace });
    expect(splitting.encode("a  ab")).toEqual([idOf("a"), idOf("\u2581"), idOf("\u2581ab")]);
    const whole = await changed({ model, normalizer: null, pre_tokenizer: { ...metaspace, split: false } });
    expect(whole.encode("a  ab")).toEqual([idOf("a"), 700, idOf("ab")]);
  });

  test("a long text is cut where no merge crosses, and its tokens stay the same", async () => {
    const words = {
      ...vocab,
      "\u2581\u2581": 700,
      "b\u2581": 701,
      "b\u2581a": 702,
      "a\ud83e\udda5\u2581": 703,
      "\ud83e\udda5": 704,
      "\ud83e\udda5\u2581": 705,
    };
    const merges = [
      "\u2581 \u2581",
      "b \u2581",
      "b\u2581 a",
      "\ud83e\udda5 \u2581",
      "a \ud83e\udda5\u2581",
      ...gemma.model.merges,
    ];
    const { Regex } = betweenPieces(words)["pattern"] as { Regex: string };
    expect("\u2581a\u2581ab\u2581a\u2581\u2581a\ud83e\udda5\u2581c\u2581".split(new RegExp(Regex, "u"))).toEqual([
      "\u2581a",
      "\u2581ab\u2581a",
      "\u2581\u2581a\ud83e\udda5\u2581c",
      "\u2581",
    ]);
    const model = { ...gemma.model, vocab: words, merges };
    const cut = await changed({ model });
    const uncut = new Tokenizer({ ...gemma, model, post_processor: null, added_tokens: [] }, {});
    const text = fc.array(fc.constantFrom("a", "b", " ", "\ud83e\udda5", "c")).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (each) => {
        expect(cut.encodePlain(each)).toEqual(uncut.encode(each).ids);
      }),
    );
  });

  test("and reads both back", () => {
    expect(decode(tokenizer.encodePlain("ab  \u00e9b\n"), tokenizer)).toBe("ab  \u00e9b\n");
    expect(tokenizer.tokenText(7)).toBe(" ab");
    expect([...tokenizer.tokenBytes(1)]).toEqual([]);
  });
});
