import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

import { parseGpt2Config } from "../../src/models/gpt2/config.ts";
import { float16ToFloat32 } from "../../src/files/half.ts";
import { openSafetensors } from "../../src/files/safetensors.ts";
import { describeModel } from "../../src/models/families.ts";
import { countParameters } from "../../src/models/model-weights.ts";
import { CATALOGUE } from "../../src/protocol/catalogue.ts";
import { readFixture } from "../../tests/models/fixtures.ts";
import { makeRandomModel } from "./random-model.ts";
import { gpt2Size, MODEL_SIZES } from "./model-sizes.ts";
import { meanOf, standardDeviationOf } from "../statistics.ts";

const SIZE = gpt2Size(2, 24, 3, 101, 40);

async function read(files: readonly File[], name: string): Promise<ArrayBuffer> {
  const file = files.find((one) => one.name === name);
  if (!file) throw new Error(`no ${name}`);
  return file.arrayBuffer();
}

async function readJson<Json>(files: readonly File[], name: string): Promise<Json> {
  return JSON.parse(new TextDecoder().decode(await read(files, name))) as Json;
}

interface TokenizerJson {
  readonly model: { readonly vocab: Record<string, number> };
  readonly added_tokens: readonly object[];
}

/** Header and data of a safetensors file. */
function parse(file: ArrayBuffer) {
  const headerBytes = Number(new DataView(file).getBigUint64(0, true));
  const header: Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }> = JSON.parse(
    new TextDecoder().decode(new Uint8Array(file, 8, headerBytes)),
  );
  const data = file.slice(8 + headerBytes);
  const values = (name: string) => [...float16ToFloat32(new Uint16Array(data.slice(...header[name]!.data_offsets)))];
  return { header, data, values };
}

it("makes a checkpoint of the shape asked for: every tensor of f16, without holes", async () => {
  const files = makeRandomModel(SIZE, 1);
  expect(parseGpt2Config(await readJson(files, "config.json"))).toMatchObject({
    shape: { numLayers: 2, hiddenSize: 24, numHeads: 3, vocabSize: 101, maxPositions: 40 },
  });
  const { header, data, values } = parse(await read(files, "model.safetensors"));
  expect(header["h.1.attn.c_attn.weight"]?.shape).toEqual([24, 72]);
  expect(header["wte.weight"]?.shape).toEqual([101, 24]);
  expect(Object.keys(header)).toHaveLength(2 + 2 * 12 + 2);
  let end = 0;
  for (const { dtype, shape, data_offsets } of Object.values(header)) {
    expect(dtype).toBe("F16");
    expect(data_offsets).toEqual([end, end + 2 * shape.reduce((product, extent) => product * extent, 1)]);
    end = data_offsets[1];
  }
  expect(end).toBe(data.byteLength);
  expect(end / 2).toBe(101 * 24 + 40 * 24 + 2 * (12 * 24 * 24 + 13 * 24) + 2 * 24);

  expect(values("h.1.ln_1.weight")).toEqual(Array.from({ length: 24 }, () => 1));
  expect(values("h.1.ln_1.bias")).toEqual(Array.from({ length: 24 }, () => 0));
  const weights = values("h.1.mlp.c_fc.weight");
  expect(meanOf(weights)).toBeCloseTo(0, 2);
  expect(standardDeviationOf(weights)).toBeGreaterThan(0.018);
  expect(standardDeviationOf(weights)).toBeLessThan(0.022);
});

it("has a word for every id, and the last one ends a text", async () => {
  const { model, added_tokens } = await readJson<TokenizerJson>(makeRandomModel(SIZE, 1), "tokenizer.json");
  expect(Object.values(model.vocab).sort((a, b) => a - b)).toEqual(Array.from({ length: 101 }, (_, i) => i));
  expect(added_tokens).toMatchObject([{ id: 100, content: "<|endoftext|>", special: true }]);
});

it("the same seed makes the same weights, another seed others", async () => {
  const bytes = async (seed: number) => Buffer.from(await read(makeRandomModel(SIZE, seed), "model.safetensors"));
  expect((await bytes(1)).equals(await bytes(1))).toBe(true);
  expect((await bytes(1)).equals(await bytes(2))).toBe(false);
});

it("no two rows of a large matrix are equal", async () => {
  const width = 1024;
  const numRows = 10_000;
  const { data, header } = parse(
    await read(makeRandomModel(gpt2Size(1, width, 2, numRows, 8), 1), "model.safetensors"),
  );
  const [begin] = header["wte.weight"]!.data_offsets;
  const rows = Array.from({ length: numRows }, (_, row) =>
    Buffer.from(data, begin + 2 * width * row, 2 * width).toString("latin1"),
  );
  expect(new Set(rows).size).toBe(numRows);
});

it("GPT-2 has its 124 million parameters", () => {
  const { config, vocabSize } = MODEL_SIZES.gpt2;
  const { numLayers, hiddenSize: width, maxPositions } = parseGpt2Config({ ...config, vocab_size: vocabSize }).shape;
  const parameters = (vocabSize + maxPositions) * width + numLayers * (12 * width ** 2 + 13 * width) + 2 * width;
  expect(parameters).toBe(124_439_808);
});

it("makes a checkpoint of any family: one that loads, whose norms change nothing", async () => {
  const { config } = await readFixture("gemma3-tiny");
  const files = makeRandomModel({ config, vocabSize: 512 }, 1);
  const { header, values } = parse(await read(files, "model.safetensors"));
  const golden = await openSafetensors(new Blob([await readFile("tests/fixtures/gemma3-tiny/model.safetensors")]));
  expect(Object.keys(header).sort()).toEqual(golden.names().toSorted());
  expect(values("model.layers.0.self_attn.q_norm.weight").every((value) => value === 0)).toBe(true);
});

it("writes a tensor once of which several operations, or parts of one, take rows", async () => {
  const config = JSON.parse(await readFile("tests/fixtures/families/qwen35/config.json", "utf8")) as {
    readonly text_config: Record<string, unknown>;
  };
  const { header } = parse(
    await read(makeRandomModel({ config: config.text_config, vocabSize: 312 }, 1), "model.safetensors"),
  );
  const golden = await openSafetensors(new Blob([await readFile("tests/fixtures/families/qwen35/model.safetensors")]));
  const text = "model.language_model.";
  const names = golden.names().flatMap((name) => (name.startsWith(text) ? [name.replace(text, "model.")] : []));
  expect(Object.keys(header).sort()).toEqual(names.toSorted());
  expect(header["model.layers.3.self_attn.q_proj.weight"]?.shape).toEqual([128, 48]);
});

it.each([
  ["HuggingFaceTB/SmolLM2-135M-Instruct", "smollm2-135m"],
  ["Qwen/Qwen3-0.6B", "qwen3-0.6b"],
  ["Qwen/Qwen3.5-0.8B", "qwen3.5-0.8b"],
] as const)("%s has its parameters", (model, name) => {
  const size = MODEL_SIZES[name];
  const described = describeModel({ ...size.config, vocab_size: size.vocabSize });
  expect(countParameters(described)).toBe(CATALOGUE.find((entry) => entry.model === model)?.numParameters);
});
