// Reads the file as llama.cpp would, and compares every weight with the checkpoint's.

import { readFile } from "node:fs/promises";

import { describe, expect, it } from "vitest";

import { float16ToFloat32, float32ToFloat16 } from "../../src/files/half.ts";
import { weightsOf } from "../../src/models/graph.ts";
import { openGgufWeights } from "../../tests/models/gguf-weights.ts";
import { readCheckpoint, transpose } from "./checkpoint.ts";
import { openSafetensors } from "../../src/files/safetensors.ts";
import { readF32 } from "../../src/files/tensor.ts";
import { toGguf } from "./gguf.ts";
import { quantise, valuesOf } from "./quantise.ts";

/** Quicker than toEqual, which looks at each element's properties. */
function expectSame(/** @type {Float32Array | undefined} */ found, /** @type {Float32Array} */ expected) {
  expect(found).toHaveLength(expected.length);
  expect(expected.findIndex((value, i) => value !== found?.[i])).toBe(-1);
}

/** A reader of its own, made from the format's description. */
function parseGguf(/** @type {Buffer} */ file) {
  let at = 0;
  const take = (/** @type {number} */ bytes) => file.subarray(at, (at += bytes));
  const u32 = () => take(4).readUInt32LE();
  const u64 = () => Number(take(8).readBigUInt64LE());
  const text = () => take(u64()).toString();
  /** @returns {any} */
  const value = (/** @type {number} */ type) => {
    if (type === 4) return u32();
    if (type === 5) return take(4).readInt32LE();
    if (type === 6) return take(4).readFloatLE();
    if (type === 7) return take(1)[0] === 1;
    if (type === 8) return text();
    if (type !== 9) throw new Error(`type ${type}`);
    const itemType = u32();
    return Array.from({ length: u64() }, () => value(itemType));
  };
  expect(take(4).toString()).toBe("GGUF");
  expect(u32()).toBe(3);
  const numTensors = u64();
  const numEntries = u64();
  const metadata = Object.fromEntries(Array.from({ length: numEntries }, () => [text(), value(u32())]));
  const entries = Array.from({ length: numTensors }, () => ({
    name: text(),
    sizes: Array.from({ length: u32() }, u64),
    type: u32(),
    offset: u64(),
  }));
  const dataBegin = Math.ceil(at / 32) * 32;
  const tensors = new Map(
    entries.map(({ name, sizes, type, offset }) => {
      expect(offset % 32).toBe(0);
      const elements = sizes.reduce((product, size) => product * size, 1);
      const begin = dataBegin + offset;
      const bytes = Uint8Array.from(file.subarray(begin, begin + elements * (type === 1 ? 2 : 4))).buffer;
      const values = type === 1 ? float16ToFloat32(new Uint16Array(bytes)) : new Float32Array(bytes);
      return [name, { sizes, type, values }];
    }),
  );
  return { metadata, tensors };
}

/** As a matrix's values are in a file of this type. */
function rounded(/** @type {Float32Array} */ values, /** @type {"f32" | "f16"} */ type) {
  return type === "f16" ? float16ToFloat32(float32ToFloat16(values)) : values;
}

/** Returns the file, parsed, and the checkpoint's tensors by the names that it has. */
async function convert(/** @type {string} */ fixture, /** @type {"f32" | "f16"} */ type) {
  const folder = `tests/fixtures/${fixture}`;
  const { vocabulary, tokenizer, ...checkpoint } = await readCheckpoint(folder);
  const found = parseGguf(Buffer.concat([...toGguf({ ...checkpoint, vocabulary, tokenizer }, type)]));
  const file = await openSafetensors(new Blob([await readFile(`${folder}/model.safetensors`)]));
  const stored = (/** @type {string} */ name) => readF32(file.tensor(file.has(name) ? name : `transformer.${name}`));
  return { ...found, vocabulary, tokenizer, stored };
}

describe.each(/** @type {const} */ (["f32", "f16"]))("a GPT-2 as GGUF in %s", async (type) => {
  const { metadata, tensors, vocabulary, tokenizer, stored } = await convert("gpt2-tiny", type);

  it("says the model's shape", () => {
    expect(metadata).toMatchObject({
      "general.architecture": "gpt2",
      "gpt2.block_count": 2,
      "gpt2.embedding_length": 64,
      "gpt2.attention.head_count": 4,
      "gpt2.feed_forward_length": 256,
      "gpt2.context_length": 128,
    });
    expect(metadata["gpt2.attention.layer_norm_epsilon"]).toBeCloseTo(1e-5, 10);
  });

  it("has the tokenizer's tokens in the order of their ids, its merges, and its end of text", () => {
    const tokens = metadata["tokenizer.ggml.tokens"];
    expect(tokens).toHaveLength(512);
    const [id = -1] = tokenizer.encode("a");
    expect(tokens[id]).toBe("a");
    expect(metadata["tokenizer.ggml.merges"]).toEqual(vocabulary.merges);
    const eosTokenId = metadata["tokenizer.ggml.eos_token_id"];
    expect(tokens[eosTokenId]).toBe("<|endoftext|>");
    expect(metadata["tokenizer.ggml.token_type"][eosTokenId]).toBe(3);
  });

  it("has every weight, matrices with a row for each output", async () => {
    expect(tensors.size).toBe(2 + 12 * 2 + 2);
    expect(tensors.get("token_embd.weight")?.sizes).toEqual([64, 512]);
    expectSame(tensors.get("token_embd.weight")?.values, rounded(await stored("wte.weight"), type));
    expectSame(tensors.get("position_embd.weight")?.values, await stored("wpe.weight"));
    for (const kind of ["weight", "bias"]) {
      expectSame(tensors.get(`output_norm.${kind}`)?.values, await stored(`ln_f.${kind}`));
    }
    for (const index of [0, 1]) {
      for (const [name, of] of /** @type {const} */ ([
        ["attn_norm", "ln_1"],
        ["ffn_norm", "ln_2"],
      ])) {
        for (const kind of ["weight", "bias"]) {
          expectSame(tensors.get(`blk.${index}.${name}.${kind}`)?.values, await stored(`h.${index}.${of}.${kind}`));
        }
      }
      for (const [name, of] of /** @type {const} */ ([
        ["attn_qkv", "attn.c_attn"],
        ["attn_output", "attn.c_proj"],
        ["ffn_up", "mlp.c_fc"],
        ["ffn_down", "mlp.c_proj"],
      ])) {
        const weight = await stored(`h.${index}.${of}.weight`);
        const bias = await stored(`h.${index}.${of}.bias`);
        const found = tensors.get(`blk.${index}.${name}.weight`);
        const inputs = weight.length / bias.length;
        expect(found?.sizes).toEqual([inputs, bias.length]);
        expectSame(tensors.get(`blk.${index}.${name}.bias`)?.values, bias);
        const turned = weight.map((_, i) => weight[(i % inputs) * bias.length + Math.floor(i / inputs)] ?? NaN);
        expectSame(found?.values, rounded(turned, type));
      }
    }
  });
});

describe.each(
  /** @type {const} */ ([
    ["llama-tiny/tied", "f32", "llama", 16],
    ["llama-tiny/untied", "f16", "llama", 16],
    ["qwen3-tiny", "f16", "qwen3", 32],
  ]),
)("the Llama-type %s as GGUF in %s", async (fixture, type, architecture, headDim) => {
  const { metadata, tensors, vocabulary, stored } = await convert(fixture, type);
  const [hiddenSize, numHeads, numKvHeads] = [64, 4, 2];
  const isTurnedByHalves = architecture === "qwen3";

  it("says the model's shape and its tokens", () => {
    expect(metadata).toMatchObject({
      "general.architecture": architecture,
      [`${architecture}.vocab_size`]: 512,
      [`${architecture}.block_count`]: 2,
      [`${architecture}.embedding_length`]: hiddenSize,
      [`${architecture}.feed_forward_length`]: 176,
      [`${architecture}.attention.head_count`]: numHeads,
      [`${architecture}.attention.head_count_kv`]: numKvHeads,
      [`${architecture}.attention.key_length`]: headDim,
      [`${architecture}.attention.value_length`]: headDim,
      [`${architecture}.rope.dimension_count`]: headDim,
      [`${architecture}.rope.freq_base`]: architecture === "llama" ? 10_000 : 1e6,
      [`${architecture}.context_length`]: 256,
      "tokenizer.ggml.merges": vocabulary.merges,
      "tokenizer.ggml.add_bos_token": false,
    });
    const epsilon = architecture === "llama" ? 1e-5 : 1e-6;
    expect(metadata[`${architecture}.attention.layer_norm_rms_epsilon`]).toBeCloseTo(epsilon, 10);
    expect(metadata["tokenizer.ggml.tokens"]).toEqual(vocabulary.tokens);
  });

  it("has every weight, the head only where it is not the embedding", async () => {
    const has = async (/** @type {string} */ name, /** @type {string} */ of, /** @type {number[]} */ sizes) => {
      const [found, values] = [tensors.get(`${name}.weight`), await stored(`${of}.weight`)];
      expect(found?.sizes).toEqual(sizes);
      expectSame(found?.values, sizes.length === 2 ? rounded(values, type) : values);
    };
    const hasHead = fixture === "llama-tiny/untied";
    expect(tensors.size).toBe(1 + (architecture === "llama" ? 9 : 11) * 2 + 1 + (hasHead ? 1 : 0));
    await has("token_embd", "model.embed_tokens", [hiddenSize, 512]);
    if (hasHead) await has("output", "lm_head", [hiddenSize, 512]);
    await has("output_norm", "model.norm", [hiddenSize]);
    for (const index of [0, 1]) {
      const [blk, layer] = [`blk.${index}`, `model.layers.${index}`];
      await has(`${blk}.attn_norm`, `${layer}.input_layernorm`, [hiddenSize]);
      if (architecture === "qwen3") {
        await has(`${blk}.attn_q_norm`, `${layer}.self_attn.q_norm`, [headDim]);
        await has(`${blk}.attn_k_norm`, `${layer}.self_attn.k_norm`, [headDim]);
      }
      await has(`${blk}.ffn_norm`, `${layer}.post_attention_layernorm`, [hiddenSize]);
      await has(`${blk}.attn_v`, `${layer}.self_attn.v_proj`, [hiddenSize, numKvHeads * headDim]);
      await has(`${blk}.attn_output`, `${layer}.self_attn.o_proj`, [numHeads * headDim, hiddenSize]);
      await has(`${blk}.ffn_gate`, `${layer}.mlp.gate_proj`, [hiddenSize, 176]);
      await has(`${blk}.ffn_up`, `${layer}.mlp.up_proj`, [hiddenSize, 176]);
      await has(`${blk}.ffn_down`, `${layer}.mlp.down_proj`, [176, hiddenSize]);
    }
  });

  it("has the rows of queries and keys in the order that llama.cpp turns them in", async () => {
    for (const [name, heads] of /** @type {const} */ ([
      ["q", numHeads],
      ["k", numKvHeads],
    ])) {
      for (const index of [0, 1]) {
        const values = rounded(await stored(`model.layers.${index}.self_attn.${name}_proj.weight`), type);
        const found = tensors.get(`blk.${index}.attn_${name}.weight`);
        expect(found?.sizes).toEqual([hiddenSize, heads * headDim]);
        const row = (/** @type {Float32Array | undefined} */ of, /** @type {number} */ i) =>
          of?.subarray(i * hiddenSize, (i + 1) * hiddenSize);
        for (let i = 0; i < heads * headDim; i++) {
          const [inHead, half] = [i % headDim, headDim / 2];
          const turned = i - inHead + 2 * (inHead % half) + Math.floor(inHead / half);
          expectSame(row(found?.values, isTurnedByHalves ? i : turned), row(values, i) ?? new Float32Array());
        }
      }
    }
  });
});

it.each(/** @type {const} */ (["Q8_0", "Q4_0"]))(
  "in %s Chorus reads the values that its integers are",
  async (type) => {
    const checkpoint = await readCheckpoint("tests/fixtures/gpt2-tiny");
    const file = new File([Buffer.concat([...toGguf(checkpoint, type)])], "model.gguf");
    const weights = await openGgufWeights(file);
    const found = weightsOf(weights.model.graph);
    const given = weightsOf(checkpoint.model.graph);
    expect(found).toHaveLength(given.length);
    for (const [i, weight] of given.entries()) {
      const read = await readF32(weights.tensor(/** @type {import("../../src/models/graph.ts").Weight} */ (found[i])));
      const values = checkpoint.read(weight);
      if (!("layout" in weight)) expectSame(read, values);
      else {
        const { layout, inputs, outputs } = /** @type {import("../../src/models/graph.ts").Matrix} */ (weight);
        const rows = layout === "in-out" ? transpose(values, inputs, outputs) : values;
        expectSame(read, valuesOf(quantise(rows, type), type));
      }
    }
  },
);
