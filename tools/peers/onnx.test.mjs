// The ONNX graph is run here by its operators' definitions, and gives the tokens that Hugging Face's PyTorch code gave.

import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { readCheckpoint } from "./checkpoint.ts";
import { gpt2ToOnnx } from "./gpt2-onnx.ts";
import { parseOnnx } from "./testing/parse-onnx.ts";
import { runOnnx } from "./testing/run-onnx.ts";

const { weights } = await readCheckpoint("fixtures/gpt2-tiny");
const graph = parseOnnx(Buffer.concat(gpt2ToOnnx(weights)));
const { prompts } = JSON.parse(readFileSync("fixtures/gpt2-tiny/golden.json", "utf8"));
const { nLayer, nHead, headDim, vocabSize } = weights.config;

const matrix = (/** @type {number[][]} */ rows) => ({ shape: [rows.length, rows[0]?.length ?? 0], data: rows.flat() });

/** As transformers.js drives it: the prompts, padded on the left, then a token at a time with the cache so far. */
function generate(/** @type {number[][]} */ batch, /** @type {number} */ maxTokens) {
  const longest = Math.max(...batch.map((ids) => ids.length));
  const pad = (/** @type {number[]} */ row) => [...Array(longest - row.length).fill(0), ...row];
  let ids = batch.map(pad);
  let positions = batch.map((row) => pad(row.map((_, i) => i)));
  let mask = batch.map((row) => pad(row.map(() => 1)));
  /** @type {Record<string, import("./testing/parse-onnx.ts").Tensor>} */
  let cache = {};
  for (let index = 0; index < nLayer; index++) {
    for (const kind of ["key", "value"]) {
      cache[`past_key_values.${index}.${kind}`] = { shape: [batch.length, nHead, 0, headDim], data: [] };
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

describe("a checkpoint as ONNX", () => {
  it("has the inputs and outputs that transformers.js looks for", () => {
    const cache = (/** @type {string} */ prefix) =>
      Array.from({ length: nLayer }, (_, index) => [`${prefix}.${index}.key`, `${prefix}.${index}.value`]).flat();
    const inputs = ["input_ids", "attention_mask", "position_ids", "num_logits_to_keep"];
    expect(graph.inputs.toSorted()).toEqual([...inputs, ...cache("past_key_values")].toSorted());
    expect(graph.outputs.toSorted()).toEqual(["logits", ...cache("present")].toSorted());
  });

  it("gives Hugging Face's greedy tokens, prompts alone and padded to one length", () => {
    const few = prompts.slice(0, 3);
    const golden = few.map((/** @type {any} */ { greedy }) => greedy.tokens.slice(0, 3));
    expect(golden.every((/** @type {number[]} */ tokens) => tokens.length === 3)).toBe(true);
    const ids = few.map((/** @type {any} */ prompt) => prompt.ids);
    expect(ids.map((/** @type {number[]} */ row) => generate([row], 3)[0])).toEqual(golden);
    expect(generate(ids, 3)).toEqual(golden);
  });
});
