// The ONNX graphs are run here by their operators' definitions, and give the tokens that Hugging Face's PyTorch code gave.

import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { readCheckpoint, transpose } from "./checkpoint.ts";
import { toOnnx } from "./onnx-decoder.ts";
import { quantise, valuesOf } from "./quantise.ts";
import { SIZES, writeRandomCheckpoint } from "./random-checkpoint.ts";
import { parseOnnx } from "./testing/parse-onnx.ts";
import { runOnnx } from "./testing/run-onnx.ts";

/** @typedef {{ numLayers: number, numKvHeads: number, headDim: number, vocabSize: number }} Shape */

const matrix = (/** @type {number[][]} */ rows) => ({ shape: [rows.length, rows[0]?.length ?? 0], data: rows.flat() });

/** As transformers.js drives it: the prompts, padded on the left, then a token at a time with the cache so far. */
function generate(
  /** @type {import("./testing/parse-onnx.ts").ParsedOnnx} */ graph,
  /** @type {Shape} */ { numLayers, numKvHeads, headDim, vocabSize },
  /** @type {number[][]} */ batch,
  /** @type {number} */ maxTokens,
) {
  const longest = Math.max(...batch.map((ids) => ids.length));
  const pad = (/** @type {number[]} */ row) => [...Array(longest - row.length).fill(0), ...row];
  let ids = batch.map(pad);
  let positions = batch.map((row) => pad(row.map((_, i) => i)));
  let mask = batch.map((row) => pad(row.map(() => 1)));
  /** @type {Record<string, import("./testing/parse-onnx.ts").Tensor>} */
  let cache = {};
  for (let index = 0; index < numLayers; index++) {
    for (const kind of ["key", "value"]) {
      cache[`past_key_values.${index}.${kind}`] = { shape: [batch.length, numKvHeads, 0, headDim], data: [] };
    }
  }
  /** @type {number[][]} */
  const tokens = batch.map(() => []);
  for (let step = 0; step < maxTokens; step++) {
    const outputs = runOnnx(graph, {
      input_ids: matrix(ids),
      attention_mask: matrix(mask),
      position_ids: matrix(positions),
      num_logits_to_keep: { shape: [], data: [1] },
      ...cache,
    });
    const logits = outputs.get("logits");
    expect(logits?.shape).toEqual([batch.length, 1, vocabSize]);
    ids = batch.map((_, row) => {
      const own = logits?.data.slice(row * vocabSize, (row + 1) * vocabSize) ?? [];
      return [own.indexOf(Math.max(...own))];
    });
    for (const [row, token] of ids.entries()) tokens[row]?.push(...token);
    positions = batch.map((row) => [row.length + step]);
    mask = mask.map((row) => [...row, 1]);
    cache = Object.fromEntries(
      [...outputs]
        .filter(([name]) => name.startsWith("present."))
        .map(([name, value]) => [name.replace("present", "past_key_values"), value]),
    );
  }
  return tokens;
}

function parseFiles(/** @type {import("./onnx.ts").OnnxFiles} */ files) {
  const buffers = new Map([...files].map(([path, parts]) => [path.replace("onnx/", ""), Buffer.concat(parts)]));
  return parseOnnx(buffers.get("model.onnx") ?? Buffer.alloc(0), buffers);
}

/** Hugging Face's answers to a fixture's prompts. */
function readAnswers(/** @type {string} */ fixture, /** @type {number} */ count, /** @type {number} */ length) {
  const { prompts } = JSON.parse(readFileSync(`tests/fixtures/${fixture}/golden.json`, "utf8"));
  /** @type {{ ids: number[], greedy: { tokens: number[] } }[]} */
  const few = prompts.slice(0, count);
  const golden = few.map(({ greedy }) => greedy.tokens.slice(0, length));
  expect(golden.every((tokens) => tokens.length === length)).toBe(true);
  return { ids: few.map((prompt) => prompt.ids), golden };
}

function expectInterface(
  /** @type {import("./testing/parse-onnx.ts").ParsedOnnx} */ graph,
  /** @type {string[]} */ inputs,
  /** @type {Shape} */ { numLayers, numKvHeads, headDim },
) {
  const cache = (/** @type {string} */ prefix) =>
    Array.from({ length: numLayers }, (_, index) => [`${prefix}.${index}.key`, `${prefix}.${index}.value`]).flat();
  expect(graph.inputs.toSorted()).toEqual([...inputs, ...cache("past_key_values")].toSorted());
  expect(graph.outputs.toSorted()).toEqual(["logits", ...cache("present")].toSorted());
  // By this name of an axis an empty cache gets as many rows as the batch has.
  const cacheAxes = ["batch_size", numKvHeads, "past", headDim];
  for (const name of cache("past_key_values")) expect(graph.inputAxes.get(name)).toEqual(cacheAxes);
}

describe("a GPT-2 as ONNX", async () => {
  const checkpoint = await readCheckpoint("tests/fixtures/gpt2-tiny");
  const { shape } = checkpoint.model;
  const graph = parseFiles(toOnnx(checkpoint).encode("onnx/model.onnx"));

  it("has the inputs and outputs that transformers.js looks for", () => {
    expectInterface(graph, ["input_ids", "attention_mask", "position_ids", "num_logits_to_keep"], shape);
  });

  it("gives Hugging Face's greedy tokens, prompts alone and padded to one length", () => {
    const { ids, golden } = readAnswers("gpt2-tiny", 3, 3);
    expect(ids.map((row) => generate(graph, shape, [row], 3)[0])).toEqual(golden);
    expect(generate(graph, shape, ids, 3)).toEqual(golden);
  });
});

describe.each(["llama-tiny/tied", "llama-tiny/untied", "qwen3-tiny"])("the Llama-type %s as ONNX", async (fixture) => {
  const checkpoint = await readCheckpoint(`tests/fixtures/${fixture}`);
  const { shape } = checkpoint.model;
  const encoded = toOnnx(checkpoint);
  const graph = parseFiles(encoded.encode("onnx/model.onnx"));

  it("has the inputs and outputs that transformers.js looks for", () => {
    expectInterface(graph, ["input_ids", "attention_mask", "num_logits_to_keep"], shape);
  });

  it("gives Hugging Face's greedy tokens, prompts alone and several of one length", () => {
    const { ids, golden } = readAnswers(fixture, 4, 3);
    const alone = ids.map((row) => generate(graph, shape, [row], 3)[0]);
    expect(alone).toEqual(golden);
    const length = Math.min(...ids.slice(2).map((row) => row.length));
    const cut = ids.slice(2).map((row) => row.slice(0, length));
    expect(generate(graph, shape, cut, 3)).toEqual(cut.map((row) => generate(graph, shape, [row], 3)[0]));
  });

  it("is the same graph where its weights do not fit into one file", () => {
    const files = encoded.encode("onnx/model.onnx", 150_000);
    expect([...files.keys()].slice(0, 3)).toEqual([
      "onnx/model.onnx",
      "onnx/model.onnx_data",
      "onnx/model.onnx_data_1",
    ]);
    for (const parts of files.values()) {
      expect(parts.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(160_000);
    }
    expect(parseFiles(files)).toEqual(graph);
  });
});

describe.each(/** @type {const} */ (["Q8_0", "Q4_0"]))("in the integers of %s", (type) => {
  it.each(/** @type {const} */ (["tiny", "tiny-llama"]))(
    "%s gives the tokens of the values that those are",
    async (size) => {
      const folder = await mkdtemp(join(tmpdir(), "chorus-onnx-"));
      await writeRandomCheckpoint(folder, SIZES[size], 1);
      const checkpoint = await readCheckpoint(folder);
      await rm(folder, { recursive: true });
      const { shape } = checkpoint.model;
      const read = (/** @type {import("../../src/models/graph.ts").Weight} */ weight) => {
        const values = checkpoint.read(weight);
        if (!("layout" in weight)) return values;
        const { layout, inputs, outputs } = /** @type {import("../../src/models/graph.ts").Matrix} */ (weight);
        if (layout === "out-in") return valuesOf(quantise(values, type), type);
        return transpose(valuesOf(quantise(transpose(values, inputs, outputs), type), type), outputs, inputs);
      };
      const packed = parseFiles(toOnnx(checkpoint, type).encode("onnx/model.onnx"));
      const unpacked = parseFiles(toOnnx({ ...checkpoint, read }).encode("onnx/model.onnx"));
      const ids = [[5, 9, 17, 3, 101]];
      expect(generate(packed, shape, ids, 3)).toEqual(generate(unpacked, shape, ids, 3));
      // No product has its weights in floats.
      expect(packed.nodes.filter(({ operator }) => operator === "MatMulNBits").length).toBeGreaterThan(8);
      const ofFloats = packed.nodes.filter(
        ({ operator, inputs }) => operator === "MatMul" && packed.constants.has(inputs[1] ?? ""),
      );
      expect(ofFloats).toEqual([]);
    },
  );
});
