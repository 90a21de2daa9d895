import { describe, expect, test } from "vitest";
import { describeModel } from "../../models/families.ts";
import { checkFits, modelMemory } from "./memory.ts";

const XL = describeModel({ model_type: "gpt2", n_embd: 1600, n_layer: 48, n_head: 25 });
const engine = { dtype: "f16", kvCacheDtype: "f16", numGpuBlocks: 1024, blockSize: 16, maxNumSeqs: 64 } as const;
const limits = (bytes: number) => ({ maxBufferSize: 2 * bytes, maxStorageBufferBindingSize: bytes });

describe("the refusal of what does not fit names what would", () => {
  test.each([
    ["f32", 40e6, 'dtype "f16" would fit'],
    ["f16", 20e6, 'dtype "q8" would fit'],
    ["f16", 6.6e6, 'dtype "q4" would fit'],
    ["f16", 1e6, "choose a smaller model"],
  ] as const)("weights in %s where a binding takes %i bytes", (dtype, bytes, advice) => {
    expect(() => checkFits(XL, { ...engine, dtype }, limits(bytes))).toThrow(
      expect.objectContaining({ code: "out_of_memory", param: "dtype", message: expect.stringContaining(advice) }),
    );
  });

  test("a cache, and the one that is proposed fits", () => {
    const bytes = 200e6;
    const numGpuBlocks = 8192;
    let advice = "";
    try {
      checkFits(XL, { ...engine, numGpuBlocks }, limits(bytes));
    } catch (error) {
      expect(error).toMatchObject({ code: "out_of_memory", param: "kvCacheBytes" });
      advice = (error as Error).message;
    }
    const blocks = Number(/\((\d+) blocks\)/.exec(advice)?.[1]);
    const kvCacheBytes = Number(/kvCacheBytes (\d+)/.exec(advice)?.[1]);
    checkFits(XL, { ...engine, numGpuBlocks: blocks }, limits(bytes));
    expect(modelMemory(XL, { ...engine, numGpuBlocks: blocks }).kvCacheBytes).toBe(kvCacheBytes);
    expect(() => checkFits(XL, { ...engine, numGpuBlocks: blocks + 1 }, limits(bytes))).toThrow(/kvCacheBytes/);
  });

  test("states of sequences, and the cache that is proposed fits", () => {
    const states = { numLayers: 40, convWidth: 6144, convRows: 3, numHeads: 16, keyDim: 128, valueDim: 128 };
    const shape = { ...XL.shape, numKvHeads: 1, states };
    const check = (numGpuBlocks: number, changes = {}) =>
      checkFits(
        { ...XL, shape: { ...shape, states: { ...states, ...changes } } },
        { ...engine, numGpuBlocks },
        limits(130e6),
      );
    const blocks = 64 * 115; // of 1024 tokens a slot, of 1,122,304 bytes a layer
    check(blocks);
    expect(() => check(blocks + 64)).toThrow(
      expect.objectContaining({
        code: "out_of_memory",
        param: "kvCacheBytes",
        message: expect.stringContaining(`One layer's states of sequences would take`),
      }),
    );
    expect(() => check(2 * blocks)).toThrow(`(${blocks} blocks) would fit`);
    expect(() => check(blocks, { keyDim: 6 })).toThrow(expect.objectContaining({ code: "model_unsupported" }));
  });

  test("logits of too many sequences", () => {
    const run = (maxNumSeqs: number) => checkFits(XL, { ...engine, maxNumSeqs }, limits(170e6));
    expect(() => run(1024)).toThrow(/maxNumSeqs 832 would fit/);
    run(832);
  });

  test("what fits passes", () => checkFits(XL, engine, limits(2 ** 30)));

  test("a head larger than WebGPU's default binding passes: it is split", () => {
    checkFits(XL, { ...engine, dtype: "f32" }, limits(128 * 2 ** 20));
  });
});

test("a gate larger than WebGPU's default binding passes: it is split", () => {
  const model = describeModel({
    model_type: "llama",
    vocab_size: 32_000,
    hidden_size: 4096,
    intermediate_size: 14_336,
    num_hidden_layers: 1,
    num_attention_heads: 32,
    max_position_embeddings: 4096,
    rms_norm_eps: 1e-5,
  });
  checkFits(model, { ...engine, numGpuBlocks: 256 }, limits(4096 * 14_336 * 2));
});

test("fewer bits take less", () => {
  const bytes = (["f32", "f16", "q8", "q4"] as const).map((dtype) => modelMemory(XL, { ...engine, dtype }).weightBytes);
  expect(bytes).toEqual(bytes.toSorted((a, b) => b - a));
});
