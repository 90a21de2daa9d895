// Reads the file as llama.cpp would, and compares every weight with the checkpoint's.

import { describe, expect, it } from "vitest";

import { float16ToFloat32, float32ToFloat16 } from "../../src/files/half.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { gpt2ToGguf } from "./gpt2-gguf.ts";
import { readGpt2Weights } from "./gpt2-weights.ts";
import { llamaToGguf } from "./llama-gguf.ts";
import { readLlamaWeights } from "./llama-weights.ts";
import { openCheckpoint } from "./open-checkpoint.ts";

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

describe.each(/** @type {const} */ (["f32", "f16"]))("a GPT-2 as GGUF in %s", async (type) => {
  const { vocabulary, tokenizer } = await readCheckpoint("tests/fixtures/gpt2-tiny");
  const weights = await readGpt2Weights(await openCheckpoint("tests/fixtures/gpt2-tiny"));
  const { metadata, tensors } = parseGguf(Buffer.concat([...gpt2ToGguf(weights, vocabulary, type)]));
  const kept = (/** @type {Float32Array} */ values) => rounded(values, type);

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

  it("has every weight, matrices with a row for each output", () => {
    expect(tensors.size).toBe(2 + 12 * 2 + 2);
    expect(tensors.get("token_embd.weight")?.sizes).toEqual([64, 512]);
    expectSame(tensors.get("token_embd.weight")?.values, kept(weights.wte));
    expectSame(tensors.get("position_embd.weight")?.values, weights.wpe);
    expectSame(tensors.get("output_norm.bias")?.values, weights.lnF.bias);
    for (const [index, layer] of weights.layers.entries()) {
      const { ln1, qkv, proj, ln2, fc, fcProj } = layer;
      for (const [name, norm] of /** @type {const} */ ([
        ["attn_norm", ln1],
        ["ffn_norm", ln2],
      ])) {
        expectSame(tensors.get(`blk.${index}.${name}.weight`)?.values, norm.weight);
        expectSame(tensors.get(`blk.${index}.${name}.bias`)?.values, norm.bias);
      }
      const linears = /** @type {const} */ ([
        ["attn_qkv", qkv],
        ["attn_output", proj],
        ["ffn_up", fc],
        ["ffn_down", fcProj],
      ]);
      for (const [name, { weight, bias }] of linears) {
        const found = tensors.get(`blk.${index}.${name}.weight`);
        const inputs = weight.length / bias.length;
        expect(found?.sizes).toEqual([inputs, bias.length]);
        expectSame(tensors.get(`blk.${index}.${name}.bias`)?.values, bias);
        const turned = weight.map((_, i) => weight[(i % inputs) * bias.length + Math.floor(i / inputs)] ?? NaN);
        expectSame(found?.values, kept(turned));
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
  const { vocabulary } = await readCheckpoint(`tests/fixtures/${fixture}`);
  const weights = await readLlamaWeights(await openCheckpoint(`tests/fixtures/${fixture}`));
  const { metadata, tensors } = parseGguf(Buffer.concat([...llamaToGguf(weights, vocabulary, type)]));
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

  it("has every weight, the head only where it is not the embedding", () => {
    const has = (/** @type {string} */ name, /** @type {Float32Array} */ values, /** @type {number[]} */ sizes) => {
      const found = tensors.get(`${name}.weight`);
      expect(found?.sizes).toEqual(sizes);
      expectSame(found?.values, sizes.length === 2 ? rounded(values, type) : values);
    };
    const { head, layers } = weights;
    expect(head !== null).toBe(fixture === "llama-tiny/untied");
    expect(tensors.size).toBe(1 + (architecture === "llama" ? 9 : 11) * 2 + 1 + (head ? 1 : 0));
    has("token_embd", weights.embedding, [hiddenSize, 512]);
    if (head) has("output", head, [hiddenSize, 512]);
    has("output_norm", weights.norm, [hiddenSize]);
    for (const [index, { attnNorm, qkv, o, mlpNorm, gate, up, down, headNorms }] of layers.entries()) {
      has(`blk.${index}.attn_norm`, attnNorm, [hiddenSize]);
      expect(headNorms !== null).toBe(architecture === "qwen3");
      if (headNorms) {
        has(`blk.${index}.attn_q_norm`, headNorms.query, [headDim]);
        has(`blk.${index}.attn_k_norm`, headNorms.key, [headDim]);
      }
      has(`blk.${index}.ffn_norm`, mlpNorm, [hiddenSize]);
      has(`blk.${index}.attn_output`, o, [numHeads * headDim, hiddenSize]);
      has(`blk.${index}.ffn_gate`, gate, [hiddenSize, 176]);
      has(`blk.${index}.ffn_up`, up, [hiddenSize, 176]);
      has(`blk.${index}.ffn_down`, down, [176, hiddenSize]);
      has(`blk.${index}.attn_v`, qkv.subarray(hiddenSize * (numHeads + numKvHeads) * headDim), [
        hiddenSize,
        numKvHeads * headDim,
      ]);
    }
  });

  it("has the rows of queries and keys in the order that llama.cpp turns them in", () => {
    const parts = /** @type {const} */ ([
      ["attn_q", 0, numHeads],
      ["attn_k", numHeads, numKvHeads],
    ]);
    for (const [index, { qkv }] of weights.layers.entries()) {
      const row = (/** @type {Float32Array | undefined} */ values, /** @type {number} */ i) =>
        values?.subarray(i * hiddenSize, (i + 1) * hiddenSize);
      for (const [name, firstHead, heads] of parts) {
        const found = tensors.get(`blk.${index}.${name}.weight`);
        expect(found?.sizes).toEqual([hiddenSize, heads * headDim]);
        for (let head = 0; head < heads; head++) {
          for (let pair = 0; pair < headDim / 2; pair++) {
            const first = (firstHead + head) * headDim + pair;
            for (const [half, from] of [first, first + headDim / 2].entries()) {
              const expected = qkv.subarray(from * hiddenSize, (from + 1) * hiddenSize);
              expectSame(
                row(found?.values, head * headDim + (isTurnedByHalves ? pair + (half * headDim) / 2 : 2 * pair + half)),
                rounded(expected, type),
              );
            }
          }
        }
      }
    }
  });
});
