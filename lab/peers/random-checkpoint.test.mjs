import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { float16ToFloat32, float32ToFloat16 } from "../../src/files/half.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { openCheckpoint } from "./open-checkpoint.ts";
import { makePrompts } from "./prompts.ts";
import { SIZES, writeRandomCheckpoint } from "./random-checkpoint.ts";

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
    expect(checkpoint.weights.config).toMatchObject(SIZES.tiny);
    expect(checkpoint.vocabulary.tokens).toHaveLength(SIZES.tiny.vocabSize);
    expect(checkpoint.weights.config.eosTokenIds).toEqual([SIZES.tiny.vocabSize - 1]);
  });

  it("is a Llama, too, of the size asked for", async () => {
    await writeRandomCheckpoint(join(folder, "llama"), SIZES["tiny-llama"], 1);
    const { weights, vocabulary } = await readCheckpoint(join(folder, "llama"));
    expect(weights.config).toMatchObject({ family: "llama", shape: { hiddenSize: 96, numHeads: 6, numKvHeads: 2 } });
    expect(vocabulary.tokens).toHaveLength(512);
  });

  it("has weights that keep the size of what they multiply, and norms of ones", async () => {
    await writeRandomCheckpoint(join(folder, "llama"), SIZES["tiny-llama"], 1);
    const { read } = await openCheckpoint(join(folder, "llama"));
    const meanSquare = (/** @type {Float32Array} */ values) =>
      values.reduce((sum, x) => sum + x * x, 0) / values.length;
    for (const [name, inputs] of /** @type {const} */ ([
      ["self_attn.q_proj", 96],
      ["mlp.up_proj", 96],
      ["mlp.down_proj", 256],
    ])) {
      expect(inputs * meanSquare(await read(`model.layers.1.${name}.weight`))).toBeCloseTo(1.4 ** 2, 0);
    }
    expect([...(await read("model.norm.weight"))].every((value) => value === 1)).toBe(true);
  });

  it("has normal deviates that are halves", async () => {
    const wte = await (await openCheckpoint(join(folder, "a"))).read("wte.weight");
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
