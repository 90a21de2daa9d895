import { readFileSync } from "node:fs";

import { gguf } from "@huggingface/gguf";
import { describe, expect, test } from "vitest";

import { ggufBytes } from "../../../tests/fakes/gguf-bytes.ts";
import { readGgufHeader, type GgufHeader } from "./gguf-header.ts";

const FOLDER = "tests/fixtures/gguf";
const read = (path: string) => new Uint8Array(readFileSync(`${FOLDER}/${path}`));
const parse = (bytes: Uint8Array, size: number | null = bytes.length): Promise<GgufHeader> =>
  readGgufHeader(async (begin, end) => bytes.slice(begin, end), size, "x.gguf");

describe.each(["llama-mix", "gemma3-q4", "qwen2-small"])("%s", (set) => {
  const path = `${set}/${set}.gguf`;

  test("has what Hugging Face's own parser finds", async () => {
    const { pairs, tensors } = await parse(read(path));
    const theirs = await gguf(`${FOLDER}/${path}`, { allowLocalFile: true });
    // It counts in bigints where the file has 64 bits.
    const plain = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(plain)
        : typeof value === "bigint" && Number.isSafeInteger(Number(value))
          ? Number(value)
          : value;
    const { version: _, tensor_count: __, kv_count: ___, ...metadata } = theirs.metadata as Record<string, unknown>;
    expect([...pairs]).toEqual(Object.entries(metadata).map(([key, value]) => [key, plain(value)]));
    const dataBegin = tensors.reduce((least, { begin }) => Math.min(least, begin), Infinity);
    expect(tensors.map(({ name, shape, begin }) => [name, shape, begin - dataBegin])).toEqual(
      theirs.tensorInfos.map(({ name, shape, offset }) => [name, shape.map(Number).reverse(), Number(offset)]),
    );
  });

  test("is the same where its size is not known", async () => {
    const bytes = read(path);
    expect(await parse(bytes, null)).toEqual(await parse(bytes));
  });
});

test("a file that ends anywhere is refused", async () => {
  const whole = read("bad/sound.gguf");
  for (let end = 0; end < whole.length; end += 61) {
    const refusal = { code: "model_invalid", message: expect.stringContaining("x.gguf") };
    await expect(parse(whole.slice(0, end))).rejects.toMatchObject(refusal);
    await expect(parse(whole.slice(0, end), whole.length)).rejects.toMatchObject(refusal);
  }
});

/** A header with one pair, a list of strings of this length, and no tensor. */
function headerOf(numStrings: number, stringBytes: number): Uint8Array {
  const encoder = new TextEncoder();
  const key = encoder.encode("tokenizer.ggml.tokens");
  const strings = Array.from({ length: numStrings }, (_, i) => encoder.encode(`${i}`.padStart(stringBytes, "-")));
  const bytes = strings.reduce((sum, { length }) => sum + 8 + length, 24 + 8 + key.length + 4 + 4 + 8);
  const view = new DataView(new ArrayBuffer(bytes));
  const whole = new Uint8Array(view.buffer);
  let at = 0;
  const u32 = (value: number) => view.setUint32((at += 4) - 4, value, true);
  const u64 = (value: number) => view.setBigUint64((at += 8) - 8, BigInt(value), true);
  const text = (value: Uint8Array) => {
    u64(value.length);
    whole.set(value, at);
    at += value.length;
  };
  whole.set(encoder.encode("GGUF"), 0);
  at = 4;
  u32(3);
  u64(0);
  u64(1);
  text(key);
  u32(9);
  u32(8);
  u64(numStrings);
  strings.forEach(text);
  return whole;
}

test("a header of megabytes is read in few pieces, and nothing behind it", async () => {
  const header = headerOf(20_000, 220);
  const file = new Uint8Array(header.length + 20 * 2 ** 20);
  file.set(header);
  const ranges: [number, number][] = [];
  const { pairs } = await readGgufHeader(
    async (begin, end) => {
      ranges.push([begin, end]);
      return file.slice(begin, end);
    },
    file.length,
    "x.gguf",
  );
  expect(pairs.get("tokenizer.ggml.tokens")).toHaveLength(20_000);
  expect(header.length).toBeGreaterThan(4 * 2 ** 20);
  expect(ranges.length).toBeLessThan(6);
  expect(ranges.at(-1)?.[1]).toBeLessThan(2 * header.length);
  for (const [i, [begin]] of ranges.entries()) expect(begin).toBe(ranges[i - 1]?.[1] ?? 0);
});

test("lists of more values than any vocabulary has are refused before they take memory", async () => {
  const most = 2 ** 23;
  const one = ggufBytes({ a: ["array", "u8", []] });
  const whole = new Uint8Array(one.length + most + 1);
  whole.set(one);
  new DataView(whole.buffer).setBigUint64(41, BigInt(most + 1), true);
  const refusal = {
    code: "model_invalid",
    message: expect.stringContaining(`up to "a", its lists have more than ${most}`),
  };
  await expect(parse(whole)).rejects.toMatchObject(refusal);
});
