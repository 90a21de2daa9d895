// What the pairs of a GGUF file say of its model.

import { expect, test } from "vitest";

import { ggufBytes, tinyPairs, tinyTensors, type Typed } from "../../tests/fakes/gguf-bytes.ts";
import { GgufFolder } from "../files/gguf/gguf-folder.ts";
import { openFileList } from "../files/model-files.ts";
import { configOfGguf } from "./config-of-gguf.ts";
import { parseDecoderConfig } from "./decoder/config.ts";

/** Returns the config of a tiny file of this architecture, with more pairs. */
async function parse(architecture: string, more: Readonly<Record<string, Typed>>, tensors = tinyTensors()) {
  const own = (pairs: Readonly<Record<string, Typed>>, prefix: string) =>
    Object.fromEntries(Object.entries(pairs).map(([key, value]) => [key.replace(prefix, `${architecture}.`), value]));
  const name = { "general.architecture": ["string", architecture] } as const;
  const bytes = ggufBytes({ ...own(tinyPairs(), "llama."), ...name, ...own(more, "*.") }, tensors);
  const folder = new GgufFolder(openFileList([new File([bytes], "x.gguf")]), "x.gguf", configOfGguf);
  return parseDecoderConfig(await folder.readJson("config.json"));
}

const SIX: Readonly<Record<string, Typed>> = { "*.block_count": ["u32", 6] };
const WINDOW: Readonly<Record<string, Typed>> = { ...SIX, "*.attention.sliding_window": ["u32", 8] };
const PATTERN = "*.attention.sliding_window_pattern";

test.each<[string, Record<string, Typed>, (number | null)[]]>([
  ["gemma2", WINDOW, [8, null, 8, null, 8, null]],
  ["gemma3", { ...WINDOW, [PATTERN]: ["u32", 2] }, [8, null, 8, null, 8, null]],
  ["olmo2", { ...WINDOW, [PATTERN]: ["u32", 3] }, [8, 8, null, 8, 8, null]],
  ["exaone4", { ...WINDOW, [PATTERN]: ["u32", 0] }, [8, 8, 8, 8, 8, 8]],
  ["exaone4", { ...WINDOW, [PATTERN]: ["u32", 1] }, [null, null, null, null, null, null]],
  ["exaone4", { ...WINDOW, [PATTERN]: ["array", "bool", [1, 0, 0, 0, 0, 1]] }, [8, null, null, null, null, 8]],
  ["exaone4", { ...WINDOW, [PATTERN]: ["array", "u32", [1, 0, 0, 0, 0, 1]] }, [8, null, null, null, null, 8]],
  ["gemma2", SIX, [4096, null, 4096, null, 4096, null]],
  ["gemma3", SIX, [null, null, null, null, null, null]],
  ["exaone4", { ...WINDOW, "*.nextn_predict_layers": ["u32", 2] }, [8, 8, 8, null]],
  [
    "exaone4",
    { ...WINDOW, "*.nextn_predict_layers": ["u32", 4], [PATTERN]: ["array", "bool", [0, 1, 1, 1, 1, 1]] },
    [null, 8],
  ],
])("%s with %j has the windows %j", async (architecture, pairs, windows) => {
  expect((await parse(architecture, pairs)).layers.map(({ window }) => window)).toEqual(windows);
});

test("all layers of a Gemma 3 without a window have the global frequencies", async () => {
  const { layers } = await parse("gemma3", { ...SIX, "*.rope.freq_base": ["f32", 1e6] });
  const frequencies = layers.map(({ angles }) => angles?.inverseFrequencies[1]);
  expect(new Set(frequencies)).toEqual(new Set([1e6 ** (-2 / 16)]));
});

const YARN: Readonly<Record<string, Typed>> = {
  "*.rope.scaling.type": ["string", "yarn"],
  "*.rope.scaling.factor": ["f32", 16],
  "*.rope.scaling.original_context_length": ["u32", 16],
};
const growth = (mscale: number) => 0.1 * mscale * Math.log(16) + 1;

test.each([
  [1, 1],
  [0.5, growth(1) / growth(0.5)],
  [0, growth(1)],
  [null, growth(1)],
])("YaRN with the log multiplier %j scales by %d", async (multiplier, scaling) => {
  const own = multiplier === null ? {} : { "*.rope.scaling.yarn_log_multiplier": ["f32", multiplier] as const };
  const { layers } = await parse("mistral3", { ...YARN, ...own });
  expect(layers[0]?.angles?.scaling).toBeCloseTo(scaling, 6);
});

test("a Ministral 3 whose file has no scaling isn't scaled", async () => {
  const { layers } = await parse("mistral3", { "*.rope.freq_base": ["f32", 1e4] });
  expect([layers[0]?.angles?.scaling, layers[0]?.angles?.queryGrowth]).toEqual([1, undefined]);
  expect(layers[0]?.angles?.inverseFrequencies[1]).toBeCloseTo(1e4 ** (-2 / 16), 12);
});

test.each([
  [[], [false, false]],
  [
    ["attn_q", "attn_k", "attn_v"],
    [true, false],
  ],
  [
    ["attn_q", "attn_k", "attn_v", "attn_output"],
    [true, true],
  ],
])("a file with biases of %j has them in queries and outputs: %j", async (names, expected) => {
  const norm = tinyTensors()["output_norm.weight"];
  const biases = names.flatMap((name) => (norm ? [[`blk.0.${name}.bias`, norm] as const] : []));
  const config = await parse("llama", {}, { ...tinyTensors(), ...Object.fromEntries(biases) });
  expect([config.hasQkvBias, config.hasOutputBias]).toEqual(expected);
});

test("a temperature scale of 0 lets no query grow", async () => {
  const growthOf = async (scale: number) => {
    const { layers } = await parse("mistral3", { ...YARN, "*.attention.temperature_scale": ["f32", scale] });
    return layers[0]?.angles?.queryGrowth;
  };
  expect([await growthOf(0.5), await growthOf(0)]).toEqual([{ beta: 0.5, period: 16 }, undefined]);
});

test.each<[Record<string, Typed>, string, string]>([
  [{ "*.attention.causal": ["bool", false] }, "model_unsupported", "llama.attention.causal"],
  [{ "*.nextn_predict_layers": ["u32", 1] }, "model_invalid", "llama.block_count (1) must be more than nextn_"],
  [{ [PATTERN]: ["string", "LLG"], "*.attention.sliding_window": ["u32", 8] }, "model_invalid", "window_pattern"],
])("a file with %j is refused: %s, %s", async (pairs, code, part) => {
  const error = { code, param: "x.gguf", message: expect.stringContaining(part) };
  await expect(parse("llama", pairs)).rejects.toThrow(expect.objectContaining(error));
});
