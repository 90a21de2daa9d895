import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { float16ToFloat32, float32ToFloat16 } from "../../src/files/half.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { weightsOf } from "../../src/models/graph.ts";
import { makePrompts } from "./prompts.ts";
import { SIZES, writeRandomCheckpoint } from "./random-checkpoint.ts";

/** Returns a function that reads a weight by the name of its first tensor. */
const byName =
  (/** @type {import("./checkpoint.ts").PeerCheckpoint} */ { model, read }) =>
  (/** @type {string} */ name) => {
    const weight = weightsOf(model.graph).find(({ tensors }) => tensors[0]?.name === name);
    return weight ? read(weight) : new Float32Array();
  };

describe("a random checkpoint", () => {
  let folder = "";
  /** @type {import("./checkpoint.ts").PeerCheckpoint} */
  let checkpoint;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "chorus-peers-"));
    await writeRandomCheckpoint(join(folder, "a"), SIZES.tiny, 1);
    checkpoint = await readCheckpoint(join(folder, "a"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("is a GPT-2 of the size asked for", () => {
    expect(checkpoint.model.shape).toMatchObject({ numLayers: 2, hiddenSize: 64, numHeads: 4, maxPositions: 128 });
    expect(checkpoint.vocabulary.tokens).toHaveLength(512);
    expect(checkpoint.model.eosTokenIds).toEqual([511]);
  });

  it("is a Llama, too, of the size asked for", async () => {
    await writeRandomCheckpoint(join(folder, "llama"), SIZES["tiny-llama"], 1);
    const { model, vocabulary } = await readCheckpoint(join(folder, "llama"));
    expect(model).toMatchObject({ family: "llama", shape: { hiddenSize: 96, numHeads: 6, numKvHeads: 2 } });
    expect(vocabulary.tokens).toHaveLength(512);
  });

  it("has weights that keep the size of what they multiply, and norms of ones", async () => {
    await writeRandomCheckpoint(join(folder, "llama"), SIZES["tiny-llama"], 1);
    const read = byName(await readCheckpoint(join(folder, "llama")));
    const meanSquare = (/** @type {Float32Array} */ values) =>
      values.reduce((sum, x) => sum + x * x, 0) / values.length;
    for (const [name, inputs] of /** @type {const} */ ([
      ["self_attn.q_proj", 96],
      ["mlp.up_proj", 96],
      ["mlp.down_proj", 256],
    ])) {
      expect(inputs * meanSquare(read(`model.layers.1.${name}.weight`))).toBeCloseTo(1.4 ** 2, 0);
    }
    expect([...read("model.norm.weight")].every((value) => value === 1)).toBe(true);
  });

  it("has normal deviates that are halves", async () => {
    const wte = byName(checkpoint)("wte.weight");
    const halves = float16ToFloat32(float32ToFloat16(wte));
    expect(wte.findIndex((value, i) => value !== halves[i])).toBe(-1);
    const mean = wte.reduce((sum, x) => sum + x, 0) / wte.length;
    const deviation = Math.sqrt(wte.reduce((sum, x) => sum + (x - mean) ** 2, 0) / wte.length);
    expect(Math.abs(mean)).toBeLessThan(0.005);
    expect(deviation).toBeGreaterThan(0.095);
    expect(deviation).toBeLessThan(0.105);
  });

  it("is the same for a seed, and another for another", async () => {
    await writeRandomCheckpoint(join(folder, "b"), SIZES.tiny, 1);
    await writeRandomCheckpoint(join(folder, "c"), SIZES.tiny, 2);
    const [a, b, c] = await Promise.all(
      ["a", "b", "c"].map((name) => readFile(join(folder, name, "model.safetensors"))),
    );
    expect(b && a?.equals(b)).toBe(true);
    expect(c && a?.equals(c)).toBe(false);
  });

  it("has a tokenizer that makes of every prompt's text the prompt's ids", () => {
    const prompts = makePrompts(checkpoint.tokenizer, 8, 32);
    expect(prompts).toHaveLength(8);
    expect(new Set(prompts.map(({ text }) => text)).size).toBe(8);
    for (const { text, ids } of prompts) {
      expect(ids).toHaveLength(32);
      expect(checkpoint.tokenizer.encode(text)).toEqual(ids);
    }
  });

  it("refuses to make more prompts than there is text for", () => {
    expect(() => makePrompts(checkpoint.tokenizer, 800, 40)).toThrow(/^Of 800 prompts of 40 tokens, \d+ were found\.$/);
  });
});
