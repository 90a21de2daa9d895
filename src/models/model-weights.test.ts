import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openSafetensors, SafetensorsFile } from "../files/safetensors.ts";
import { readF32 } from "../files/tensor.ts";
import { describeModel } from "./families.ts";
import { weightsOf, type Weight } from "./graph.ts";
import { openWeights, type ModelWeights } from "./model-weights.ts";

const readConfig = (folder: string): object => JSON.parse(readFileSync(`${folder}/config.json`, "utf8"));
const readCheckpoint = (path: string): Promise<SafetensorsFile> =>
  openSafetensors(new Blob([new Uint8Array(readFileSync(path))]));

const tiny = readConfig("tests/fixtures/gpt2-tiny");
const open = (checkpoint: SafetensorsFile, config: object = tiny) =>
  openWeights(checkpoint, (vocabSize) => describeModel(config, vocabSize));

/** A checkpoint of zeros with these shapes. */
function zeros(shapes: Record<string, readonly number[]>): SafetensorsFile {
  let end = 0;
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const begin = end;
    end += 4 * shape.reduce((product, size) => product * size, 1);
    return { name, dtype: "F32", shape, begin, end };
  });
  return new SafetensorsFile(entries, (from, to) => Promise.resolve(new Uint8Array(to - from)));
}

const tinyCheckpoint = await readCheckpoint("tests/fixtures/gpt2-tiny/model.safetensors");

/** The shapes of the fixture's tensors, to be changed. */
function tinyShapes(): Record<string, readonly number[]> {
  return Object.fromEntries(tinyCheckpoint.names().map((name) => [name, tinyCheckpoint.shape(name)]));
}

function weightNamed({ model }: ModelWeights, name: string): Weight {
  const weight = weightsOf(model.graph).find(({ tensors }) => tensors[0]?.name === name);
  return weight ?? expect.fail(`the graph has no ${name}`);
}

describe("openWeights", () => {
  const files = ["model", "model.legacy-buffers", "model.hub-noprefix"].map(
    (name) => `tests/fixtures/gpt2-tiny/${name}.safetensors`,
  );

  test.each(files)("%s holds the same weights, whatever its names and buffers", async (path) => {
    const weights = open(await readCheckpoint(path));
    for (const weight of weightsOf(weights.model.graph)) {
      const expected = await readF32(tinyCheckpoint.tensor(`transformer.${weight.tensors[0]?.name}`));
      expect(Buffer.from((await readF32(weights.tensor(weight))).buffer).equals(Buffer.from(expected.buffer))).toBe(
        true,
      );
    }
    // 512 * 64 + 128 * 64 embeddings, 2 layers of 12 * 64^2 + 13 * 64, one norm.
    expect(weights.numParameters).toBe(40960 + 2 * (12 * 64 ** 2 + 13 * 64) + 128);
  });

  test.each(["tests/fixtures/gpt2-mid", "public/models/chorus-chat"])(
    "%s, in halves, has finite numbers",
    async (folder) => {
      const weights = open(await readCheckpoint(`${folder}/model.safetensors`), readConfig(folder));
      const { shape } = weights.model;
      expect(shape).toEqual(describeModel(readConfig(folder)).shape);
      const table = await readF32(weights.tensor(weightNamed(weights, "wte.weight")));
      expect(table.length).toBe(shape.vocabSize * shape.hiddenSize);
      expect(table.every(Number.isFinite)).toBe(true);
    },
  );

  test("the vocabulary's size is the embedding's, not the config's", () => {
    const { model } = open(tinyCheckpoint, { ...tiny, vocab_size: 500 });
    expect(model.shape.vocabSize).toBe(512);
    expect(model.graph.operations.at(-1)).toMatchObject({ type: "head", table: { outputs: 512 } });
  });

  test("an untied head is read where the config says that it is untied", () => {
    const untied = { ...tiny, tie_word_embeddings: false };
    const weights = open(zeros({ ...tinyShapes(), "lm_head.weight": [512, 64] }), untied);
    const { rows, columns } = weights.tensor(weightNamed(weights, "lm_head.weight"));
    expect([rows, columns]).toEqual([512, 64]);
    expect(() => open(zeros(tinyShapes()), untied)).toThrow(/lacks 1 tensors.*lm_head\.weight/);
  });

  test("every missing tensor is named", () => {
    const { "transformer.h.0.ln_1.bias": _, "transformer.h.1.mlp.c_fc.weight": __, ...shapes } = tinyShapes();
    expect(() => open(zeros(shapes))).toThrow(/transformer\.h\.0\.ln_1\.bias, transformer\.h\.1\.mlp\.c_fc\.weight/);
    expect(() => open(zeros({ x: [1] }))).toThrow(/wte\.weight, wpe\.weight/);
  });

  test("of many missing tensors the first few are named, so that the message can be read", () => {
    const load = () => open(zeros(tinyShapes()), { ...tiny, n_layer: 99 });
    expect(load).toThrow(/lacks \d+ tensors.*transformer\.h\.2\.ln_1\.weight.* and \d+ more\.$/);
    expect(load).toThrow(/^.{0,500}$/);
  });

  test("a tensor of another shape is named with both shapes", () => {
    const shapes = { ...tinyShapes(), "transformer.h.0.attn.c_attn.weight": [192, 64] };
    expect(() => open(zeros(shapes))).toThrow(/h\.0\.attn\.c_attn\.weight" has shape \[192, 64\].*\[64, 192\]/);
  });

  test("a bias that the model would leave out is refused", () => {
    const config = readConfig("tests/fixtures/llama-tiny/untied");
    const shapes = Object.fromEntries(
      weightsOf(describeModel(config).graph).flatMap(({ tensors }) => tensors.map(({ name, shape }) => [name, shape])),
    );
    expect(() => open(zeros(shapes), config)).not.toThrow();
    const bias = "model.layers.1.self_attn.q_proj.bias";
    expect(() => open(zeros({ ...shapes, [bias]: [8] }), config)).toThrow(
      /"model\.layers\.1\.self_attn\.q_proj\.bias"/,
    );
  });

  test("a position embedding shorter than the config says is refused", () => {
    const shapes = { ...tinyShapes(), "transformer.wpe.weight": [64, 64] };
    expect(() => open(zeros(shapes))).toThrow(/wpe\.weight/);
  });
});
