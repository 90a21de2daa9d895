import { describe, expect, test } from "vitest";

import { byteTokens, ggufBytes, tinyPairs, tinyTensors, type Typed } from "../../../tests/fakes/gguf-bytes.ts";
import { configOfGguf } from "../../models/config-of-gguf.ts";
import { describeModel } from "../../models/families.ts";
import { loadGenerationDefaults } from "../generation-config.ts";
import { openFileList } from "../model-files.ts";
import { loadTokenizer } from "../tokenizer.ts";
import { GgufFolder } from "./gguf-folder.ts";

async function open(tokens: readonly string[], more: Record<string, Typed> = {}, beside: readonly File[] = []) {
  const bytes = ggufBytes({ ...tinyPairs(tokens), ...more }, tinyTensors(tokens.length));
  const files = openFileList([new File([bytes], "x.gguf"), ...beside]);
  const folder = new GgufFolder(files, "x.gguf", configOfGguf);
  describeModel(await folder.readJson("config.json"));
  return loadTokenizer(folder);
}

const list = (values: readonly string[]): Typed => ["array", "string", values];

describe("a vocabulary over bytes", () => {
  test("may have merges that make a token which is taken whole", async () => {
    const tokens = [...byteTokens(), "he", "hey"];
    const types = tokens.map((token) => (token === "hey" ? 4 : 1));
    const tokenizer = await open(tokens, {
      "tokenizer.ggml.merges": list(["h e", "he y"]),
      "tokenizer.ggml.token_type": ["array", "i32", types],
    });
    expect(tokenizer.encode("heyhe")).toEqual([257, 256]);
  });
});

/** Each word is a token, made from its first character on; what would join two words comes before that. */
test.each([
  ["gpt-2", "it|'s| 1234| Größe"],
  ["exaone4", "it|'s| 1234| Größe"],
  ["mellum", "it|'s| 1234| Größe"],
  ["refact", "it|'s| |1|2|3|4| Größe"],
  ["dbrx", "it|'S| |123|4| Größe"],
  ["smaug-bpe", "it|'S| |123|4| Größe"],
  ["lfm2", "it|'S| |123|4| Größe"],
  ["falcon3", "it|'S| |123|4| Größe"],
  ["midm-2.0", "it|'S| |123|4| Größe"],
  ["pixtral", "it|'S| |123|4| Größe"],
  ["hunyuan", "it|'S| |1|2| Größe"],
  ["megrez", "it|'S| |1|2| Größe"],
  ["qwen35", "it|'s| |1|2| नमस्ते"],
  ["gpt-4o", "it'S| camel|Case|/\n|123|4"],
  ["tekken", "it|'S| camel|Case|/\n|1|2"],
  ["hunyuan-dense", "a|.b| |123|4|字母かな|!x"],
])("tokenizer.ggml.pre %s cuts a text into %j", async (pre, cut) => {
  const bytes = byteTokens();
  const words = cut.split("|").map((word) => Array.from(new TextEncoder().encode(word), (byte) => bytes[byte] ?? ""));
  const joints = words.slice(1).map((word, i) => [words[i]?.at(-1) ?? "", word[0] ?? ""] as const);
  const within = words.flatMap((word) =>
    word.slice(1).map((next, i) => [word.slice(0, i + 1).join(""), next] as const),
  );
  const merges = [...new Map([...joints, ...within].map((pair) => [pair.join(" "), pair])).values()];
  const tokens = [...new Set([...bytes, ...merges.map((pair) => pair.join(""))])];
  const tokenizer = await open(tokens, {
    "tokenizer.ggml.pre": ["string", pre],
    "tokenizer.ggml.merges": list(merges.map((pair) => pair.join(" "))),
  });
  const found = tokenizer.encode(cut.replaceAll("|", "")).map((id) => tokens[id]);
  expect(found).toEqual(words.map((word) => word.join("")));
});

test.each([
  ["lfm2", ["hey"]],
  ["smaug-bpe", ["h", "e", "y"]],
])("tokenizer.ggml.pre %s makes %j of a word that is a token without merges", async (pre, cut) => {
  const tokens = [...byteTokens(), "hey"];
  const tokenizer = await open(tokens, { "tokenizer.ggml.pre": ["string", pre] });
  expect(tokenizer.encode("hey").map((id) => tokens[id])).toEqual(cut);
});

test("a token that ends turns ends answers, whatever the file declares", async () => {
  const tokens = [...byteTokens(), "<|endoftext|>", "<|end|>", "<|eom_id|>"];
  const types = tokens.map((token, id) => (id < 256 || token === "<|eom_id|>" ? 1 : 3));
  const pairs: Record<string, Typed> = {
    ...tinyPairs(tokens),
    "tokenizer.ggml.token_type": ["array", "i32", types],
    "tokenizer.ggml.eos_token_id": ["u32", 256],
  };
  const files = openFileList([new File([ggufBytes(pairs, tinyTensors(tokens.length))], "x.gguf")]);
  const folder = new GgufFolder(files, "x.gguf", configOfGguf);
  const { eosTokenIds } = await loadGenerationDefaults(folder, []);
  expect(eosTokenIds).toEqual([256, 257, 258]);
  expect((await loadTokenizer(folder)).encode("<|eom_id|>")).toEqual([258]);
});

/** A vocabulary of SentencePiece: its first tokens are merged first. */
const pieces = (...tokens: readonly string[]) =>
  open(tokens, {
    "tokenizer.ggml.model": ["string", "llama"],
    "tokenizer.ggml.scores": ["array", "f32", tokens.map((_, i) => -i)],
  });

test("a token may have any name", async () => {
  const letters = ["<unk>", "▁", "_", "p", "r", "o", "t"];
  const tokenizer = await pieces(...letters, "__", "pr", "__pr", "ot", "oto", "oto__", "__proto__");
  expect(tokenizer.encode("__proto__")).toEqual([1, 13]);
});

test("SentencePiece's long tokens cost no time", async () => {
  const tokens = ["<unk>", "▁", "a", "b", "ab", ...Array.from({ length: 100 }, (_, i) => "ab".repeat(8000) + i)];
  const tokenizer = await pieces(...tokens);
  expect(tokenizer.encode("ab")).toEqual([1, 4]);
});

test("a chat template beside a file counts only with a tokenizer beside it", async () => {
  const bytes = ggufBytes({ ...tinyPairs(), "tokenizer.chat_template": ["string", "own"] }, tinyTensors());
  const files = openFileList([new File([bytes], "x.gguf"), new File(["other"], "chat_template.jinja")]);
  const { chatTemplate } = await loadTokenizer(new GgufFolder(files, "x.gguf", configOfGguf));
  expect(chatTemplate).toBe("own");
});

test.each([
  ["general.alignment", ["f32", 0.5], "general.alignment"],
  ["general.architecture", ["string", "x".repeat(1e5)], "has the architecture"],
  ["llama.rope.scaling.type", ["string", "x".repeat(1e5)], "rope type"],
  ["split.count", ["string", "x".repeat(1e5)], "split.count"],
  ["x".repeat(1e5), ["array", "array", []], "array of arrays"],
  ["llama.block_count", ["u64", 2n ** 60n], "1152921504606846976"],
] as const)("a wrong %s is named, in a short sentence", async (key, value, named) => {
  const refused = open(byteTokens(), { [key]: value }).then(
    () => "",
    ({ message }: Error) => message,
  );
  expect(await refused).toContain(named);
  expect((await refused).length).toBeLessThan(400);
});

test("an error in the config that the pairs make names the file, and no config.json", async () => {
  const refused = open(byteTokens(), { "llama.rope.scaling.type": ["string", "mrope"] });
  const message = expect.not.stringContaining("config.json");
  await expect(refused).rejects.toMatchObject({ code: "model_unsupported", param: "x.gguf", message });
  await expect(refused).rejects.toThrow(/x\.gguf.*mrope/);
});

test.each([
  [{ "llama.rope.scale_linear": ["f32", 4] }, 4],
  [{ "llama.rope.scaling.factor": ["f32", 2], "llama.rope.scale_linear": ["f32", 4] }, 2],
  [{ "llama.rope.scaling.factor": ["f32", 2], "llama.rope.scaling.type": ["string", "none"] }, null],
] as const)("positions are scaled as llama.cpp scales them: %j", async (pairs, factor) => {
  const files = openFileList([new File([ggufBytes({ ...tinyPairs(), ...pairs }, tinyTensors())], "x.gguf")]);
  const config = await new GgufFolder(files, "x.gguf", configOfGguf).readJson("config.json");
  const expected = factor === null ? { rope_type: "default" } : { rope_type: "linear", factor };
  expect(config).toMatchObject({ rope_scaling: expected });
});

test("divisors of frequencies are not read where there are too many", async () => {
  let mostBytes = 0;
  const data = new Uint8Array(2 ** 22);
  const bytes = ggufBytes(tinyPairs(), { ...tinyTensors(), "rope_freqs.weight": { shape: [2 ** 20], data } });
  const whole = new File([bytes], "x.gguf");
  const slice = whole.slice.bind(whole);
  whole.slice = (begin = 0, end = whole.size) => {
    if (begin > 0) mostBytes = Math.max(mostBytes, end - begin);
    return slice(begin, end);
  };
  const folder = new GgufFolder(openFileList([whole]), "x.gguf", configOfGguf);
  await expect(folder.readJson("config.json")).rejects.toThrow("rope_freqs.weight has shape [1048576], not [8]");
  expect(mostBytes).toBeLessThan(2 ** 21);
});

test("parts whose names were swapped, or that are of other numbers, are noticed", async () => {
  const part = (i: number, of: number) =>
    ggufBytes({ ...tinyPairs(), "split.no": ["u32", i], "split.count": ["u32", of] }, i === 0 ? tinyTensors() : {});
  const opened = (...parts: readonly Uint8Array<ArrayBuffer>[]) => {
    const files = parts.map((bytes, i) => new File([bytes], `x-0000${i + 1}-of-0000${parts.length}.gguf`));
    return new GgufFolder(openFileList(files), files[0]?.name ?? "", configOfGguf).readJson("config.json");
  };
  await opened(part(0, 2), part(1, 2));
  await expect(opened(part(1, 2), part(0, 2))).rejects.toThrow(
    "x-00001-of-00002.gguf is damaged: by its name it is part 1",
  );
  await expect(opened(part(0, 2), part(1, 3))).rejects.toThrow(
    "x-00002-of-00002.gguf is damaged: by its name it is part 2",
  );
  await expect(opened(part(0, 2), part(0, 2))).rejects.toThrow("x-00002-of-00002.gguf is damaged");
});

test("a tokenizer.json beside it wins, also where its own can't be read", async () => {
  const bytes = { type: "ByteLevel", add_prefix_space: false, use_regex: true };
  const json = {
    added_tokens: [],
    pre_tokenizer: bytes,
    decoder: bytes,
    model: { type: "BPE", vocab: { a: 0, b: 1, ab: 2 }, merges: ["a b"] },
  };
  const beside = [new File([JSON.stringify(json)], "tokenizer.json")];
  const unreadable = {
    "tokenizer.ggml.pre": ["string", "another"],
    "tokenizer.chat_template": ["string", "T"],
  } as const;
  const tokenizer = await open(["a", "b", "ab"], unreadable, beside);
  expect(tokenizer.encode("abab")).toEqual([2, 2]);
  expect(tokenizer.chatTemplate).toBe("T");
  await expect(open(["a", "b", "ab"], unreadable)).rejects.toMatchObject({ code: "model_unsupported" });
});

test("a padding token that is none of its tokens is no reason to refuse a file", async () => {
  const none = { "tokenizer.ggml.padding_token_id": ["u32", 0xffffffff] } as const;
  const { eosTokenIds } = await open(byteTokens(), { "tokenizer.ggml.merges": list([]), ...none });
  expect(eosTokenIds).toBeDefined();
});

test("a file that was put together from parts says that it has none", async () => {
  const merged = { "split.count": ["u32", 0], "split.no": ["u32", 0] } as const;
  await open(byteTokens(), { "tokenizer.ggml.merges": list([]), ...merged });
});
