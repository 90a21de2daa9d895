import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { gateMatrix } from "../backends/gate-weights.ts";
import { GGML_TYPES } from "../files/gguf/ggml-types.ts";
import { GgufFolder } from "../files/gguf/gguf-folder.ts";
import { openFileList } from "../files/model-files.ts";
import { unpackRows } from "../files/packing.ts";
import { layoutOf, readF32, type Tensor } from "../files/tensor.ts";
import { configOfGguf } from "./config-of-gguf.ts";
import { describeModel } from "./families.ts";
import type { Graph, Matrix } from "./graph.ts";
import type { Model } from "./model.ts";
import { openWeights } from "./model-weights.ts";
import { gateLayout, layoutsOf, mixtureOf, partOf, storedIn, type WeightLayout } from "./weight-layouts.ts";

const SETS = ["llama-mix", "qwen3-q8", "gemma3-q4", "gpt2-q5", "llama3-rope", "qwen2-small", "llama2-spm"];

async function open(set: string) {
  const folder = `tests/fixtures/gguf/${set}`;
  const { file } = JSON.parse(readFileSync(`${folder}/golden.json`, "utf8")) as { file: string };
  const files = openFileList([new File([new Uint8Array(readFileSync(`${folder}/${file}`))], file)]);
  const gguf = new GgufFolder(files, file, configOfGguf);
  const config = await gguf.readJson("config.json");
  return {
    described: describeModel(config),
    weights: openWeights(await gguf.openOwnCheckpoint(), (vocabSize) => describeModel(config, vocabSize)),
  };
}

function matricesOf({ operations }: Graph): Matrix[] {
  const linears = operations.flatMap((operation) => {
    if (operation.type === "linear") return [operation.linear.matrix];
    return operation.type === "embed" || operation.type === "head" ? [operation.table] : [];
  });
  return [...new Set(linears)];
}

const bits = async (tensor: Tensor) => Buffer.from((await readF32(tensor)).buffer);

/** The bits of values as they are stored: packed, or as floats. */
async function storedBits(tensor: Tensor): Promise<Buffer> {
  const { packed, rows } = tensor;
  return packed ? Buffer.from(unpackRows(packed.packing, await packed.readRows(0, rows)).buffer) : bits(tensor);
}

describe.each(SETS)("%s as stored", (set) => {
  test("each part of a matrix is packed as the model says, and has the matrix's values", async () => {
    const { weights } = await open(set);
    const { model } = weights;
    for (const matrix of matricesOf(model.graph)) {
      const tensor = weights.tensor(matrix);
      const all = await bits(tensor);
      let end = 0;
      for (const part of layoutsOf(model, matrix, "stored")) {
        expect([part.firstOutput, part.firstOutput % 128]).toEqual([end, 0]);
        end += part.outputs;
        const stored = partOf(tensor, part);
        expect(layoutOf(stored)).toEqual(part.layout);
        const expected = all.subarray(4 * part.firstOutput * matrix.inputs, 4 * end * matrix.inputs);
        expect((await storedBits(stored)).equals(expected)).toBe(true);
      }
      expect(end).toBe(matrix.outputs);
    }
  });

  test("the matrices of a gate are packed as the model says, and have their values", async () => {
    const { weights } = await open(set);
    for (const operation of weights.model.graph.operations) {
      if (operation.type !== "gate") continue;
      const joined = gateMatrix(weights, operation);
      expect(layoutOf(joined)).toEqual(gateLayout(weights.model, operation, "stored"));
      expect((await storedBits(joined)).equals(await bits(joined))).toBe(true);
    }
  });

  test("what the header says before the weights are opened is what they are", async () => {
    const { described, weights } = await open(set);
    const layouts = (model: Model) => matricesOf(model.graph).map((matrix) => layoutsOf(model, matrix, "stored"));
    expect(layouts(described)).toEqual(layouts(weights.model));
  });
});

const Q4 = {
  bits: 4,
  centre: 8,
  group: 32,
  block: 32,
  floats: "half",
  factor: 1,
  hasMinimum: false,
  table: null,
} as const;
const Q6 = { ...Q4, bits: 6, centre: 32, group: 16, block: 256 } as const;
const WIDE = { ...Q4, bits: 8, centre: 128, group: 16, block: 16, floats: "float" } as const;

test.each<[number[], WeightLayout[], [number, WeightLayout][]]>([
  [[256, 128, 128], [Q4, Q4, Q6], [[0, Q4], [384, Q6]]], // prettier-ignore
  [[256, 64, 64], [Q4, Q4, Q6], [[0, WIDE]]],
  [[256, 64, 64], [Q4, "f16", Q6], [[0, "f32"]]],
  [[256, 64, 64], ["f16", "f16", "f16"], [[0, "f16"]]],
  [[64, 64, 128], [Q4, Q4, "bf16"], [[0, Q4], [128, "bf16"]]], // prettier-ignore
])("rows %j: neighbours of one layout are one part, and parts begin at multiples of 128", (sizes, stored, expected) => {
  const outputs = sizes.reduce((sum, size) => sum + size);
  const tensors = sizes.map((size, i) => ({ name: String(i), shape: [size, 256] }));
  const matrix = { tensors, inputs: 256, outputs, layout: "out-in" } as const;
  const model = { storedAs: (name: string) => ({ type: "", layout: stored[Number(name)] }) } as unknown as Model;
  const parts = layoutsOf(model, matrix, "stored");
  expect(parts.map(({ firstOutput, layout }) => [firstOutput, layout])).toEqual(expected);
  expect(layoutsOf({ ...model, storedAs: null }, matrix, "stored")).toEqual([
    { firstOutput: 0, outputs, layout: "f32" },
  ]);
});

test("as another quantisation a model takes its types, and Q8_0 where rows are not whole blocks", async () => {
  const { described } = await open("qwen3-q8");
  expect(mixtureOf(described)).toBe("Q8_0 100%");
  const [q40, q4k] = [2, 12].map((id) => GGML_TYPES.get(id));
  expect([q40, q4k].map((type) => type && mixtureOf(storedIn(described, type)))).toEqual(["Q4_0 100%", "Q8_0 100%"]);
});
