import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { filesInMemory } from "../../tests/files-in-memory.ts";
import { loadTokenizer } from "./tokenizer.ts";

const tinyJson = JSON.parse(readFileSync("tests/fixtures/gpt2-tiny/tokenizer.json", "utf8")) as Record<
  string,
  Record<string, unknown>
>;

describe("vocab.json and merges.txt", () => {
  const { vocab, merges } = tinyJson["model"] as { vocab: Record<string, number>; merges: string[] };
  const pair = (more: object) =>
    loadTokenizer(
      filesInMemory({
        "vocab.json": { ...vocab, "12": 512, ĊĊ: 513, "'M": 514 },
        "merges.txt": [...merges, "1 2", "Ċ Ċ", "' M"].join("\n"),
        ...more,
      }),
    );

  test.each([
    { "tokenizer_config.json": { tokenizer_class: "Qwen2Tokenizer" } },
    { "config.json": { model_type: "qwen3" } },
  ])("of Qwen are cut into words as Qwen's, and composed: %j", async (more) => {
    const qwen = await pair(more);
    expect(qwen.encode("\n\na")).toEqual([513, ...qwen.encode("a")]);
    expect(qwen.encode("I'M 12")).toEqual([
      ...qwen.encode("I"),
      514,
      ...[" ", "1", "2"].flatMap((part) => qwen.encode(part)),
    ]);
    expect(qwen.encode("e\u0301")).toEqual(qwen.encode("\u00e9"));
  });

  test.each([
    {},
    { "tokenizer_config.json": { tokenizer_class: "GPT2TokenizerFast" } },
    { "config.json": { model_type: "gpt2" } },
  ])("of GPT-2 are cut as GPT-2's: %j", async (more) => {
    const gpt2 = await pair(more);
    expect(gpt2.encode("12")).toEqual([512]);
    expect(gpt2.encode("e\u0301")).not.toEqual(gpt2.encode("\u00e9"));
  });

  test("of others are refused by name", async () => {
    for (const more of [
      { "tokenizer_config.json": { tokenizer_class: "CodeGenTokenizer" } },
      { "config.json": { model_type: "phi" } },
    ]) {
      await expect(pair(more)).rejects.toMatchObject({
        code: "model_unsupported",
        message: expect.stringMatching(/"(CodeGenTokenizer|phi)".*tokenizer\.json/),
      });
    }
  });
});

describe("an unsupported tokenizer is refused by name", () => {
  const model = tinyJson["model"];
  const withMerge = (merge: unknown) => ({ model: { ...model, merges: [merge] } });
  test.each([
    ['"! ~"', "model_invalid", withMerge("! ~")],
    ['"a b c"', "model_invalid", withMerge("a b c")],
    ['["a","b","c"]', "model_invalid", withMerge(["a", "b", "c"])],
    ["7 does not", "model_invalid", withMerge(7)],
    ['"construct or"', "model_invalid", withMerge("construct or")],
    ["unk_token", "model_invalid", { model: { ...model, unk_token: "<none>" } }],
    ["Surprise", "model_unsupported", { post_processor: { type: "Surprise" } }],
    [
      "BertProcessing",
      "model_unsupported",
      { post_processor: { type: "Sequence", processors: [{ type: "BertProcessing" }] } },
    ],
    ["WordPiece", "model_unsupported", { model: { ...model, type: "WordPiece" } }],
    ["byte_fallback", "model_unsupported", { model: { ...model, byte_fallback: true } }],
    ["end_of_word_suffix", "model_unsupported", { model: { ...model, end_of_word_suffix: "</w>" } }],
    ["Metaspace", "model_unsupported", { pre_tokenizer: { type: "Metaspace" } }],
    ["pre_tokenizer", "model_unsupported", { pre_tokenizer: null }],
    ["WordPiece", "model_unsupported", { decoder: { type: "WordPiece" } }],
    ["Surprise", "model_unsupported", { normalizer: { type: "Surprise" } }],
    ["model.vocab", "model_invalid", { model: { ...model, vocab: ["a"] } }],
    ['"a" has id -1', "model_invalid", { model: { ...model, vocab: { a: -1 } } }],
    ["added_tokens", "model_invalid", { added_tokens: [{ id: 3 }] }],
  ])("%s: %s", async (part, code, change) => {
    const files = filesInMemory({ "tokenizer.json": { ...tinyJson, ...change } });
    await expect(loadTokenizer(files)).rejects.toMatchObject({ code, message: expect.stringContaining(part) });
  });

  test("and a missing one", async () => {
    await expect(loadTokenizer(filesInMemory({ "vocab.json": { a: 0 } }))).rejects.toMatchObject({
      code: "model_not_found",
      message: expect.stringContaining("tokenizer.json"),
    });
  });
});
