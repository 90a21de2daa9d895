import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EngineConfig } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import { cacheBytes, kvBytesPerBlock } from "../protocol/model-shape.ts";
import { changeEngineConfig, loadedSizes, resolveEngineConfig } from "./engine-config.ts";

const small = { maxPositions: 256, numLayers: 4, numKvHeads: 4, headDim: 64 };
const gpt2Xl = { maxPositions: 1024, numLayers: 48, numKvHeads: 25, headDim: 64 };

describe("resolveEngineConfig", () => {
  test("decides everything, and freezes it", () => {
    const config = resolveEngineConfig({ seed: 5 }, small);
    expect(config).toEqual({
      cpuMath: "fastest",
      cpuThreads: null,
      maxNumSeqs: 64,
      maxNumBatchedTokens: 256,
      maxModelLen: 256,
      blockSize: 16,
      numGpuBlocks: 256, // 16 contexts of 256
      dtype: "f16",
      activationDtype: "f32",
      kvCacheDtype: "f16",
      seed: 5,
      runAhead: 2,
      logprobsMode: "raw_logprobs",
      enablePrefixCaching: true,
      speculation: null,
      schedulingPolicy: "fcfs",
      batchingMode: "continuous",
      batchWindowMs: 50,
      longPrefillTokenThreshold: 0,
      maxStepStretch: 2,
      maxQueueSize: Infinity,
      targetItlMs: null,
      alerts: { lowOccupancy: 0.6, queueLength: 100, itlMs: "auto", failureRate: 0.05 },
      logLevel: "silent",
    });
    expect([config, config.alerts].every(Object.isFrozen)).toBe(true);
  });

  test.each([
    [{}, "f32", "fastest"],
    [{ activationDtype: "int8" }, "f32", "fastest"], // f16 has no integers
    [{ dtype: "q8" }, "int8", "portable"],
    [{ dtype: "stored", activationDtype: "auto" }, "int8", "portable"],
    [{ dtype: "q4", cpuMath: "fastest" }, "int8", "fastest"],
    [{ dtype: "q4", activationDtype: "f32" }, "f32", "fastest"],
  ] as const)("%j on the CPU: activations in %s, arithmetic %s", (given, activationDtype, cpuMath) => {
    const onCpu = resolveEngineConfig(given, small, { activationDtype: "int8" });
    expect(onCpu).toMatchObject({ activationDtype, cpuMath });
  });

  test("activations are f32 on a GPU unless int8 is asked for", () => {
    expect(resolveEngineConfig({ dtype: "q8" }, small)).toMatchObject({ activationDtype: "f32", cpuMath: "fastest" });
    expect(resolveEngineConfig({ dtype: "q8", activationDtype: "int8" }, small).activationDtype).toBe("int8");
  });

  test("a change leaves activations and arithmetic as they are", () => {
    const given = { dtype: "q4", seed: 1 } as const;
    const resolved = resolveEngineConfig(given, small, { activationDtype: "int8" });
    const loaded = loadedSizes({ given, resolved }, null);
    const { resolved: next } = changeEngineConfig({ given, resolved }, { runAhead: 0 }, loaded);
    expect(next).toMatchObject({ activationDtype: "int8", cpuMath: "portable", runAhead: 0 });
  });

  test("the latency to aim at is the one that an alert watches, unless that is given", () => {
    const alertOf = (config: EngineConfig) => resolveEngineConfig(config, small).alerts.itlMs;
    expect(alertOf({ targetItlMs: 40 })).toBe(40);
    expect(alertOf({ targetItlMs: 40, alerts: { itlMs: 90 } })).toBe(90);
    expect(alertOf({ targetItlMs: 40, alerts: { itlMs: null } })).toBeNull();
  });

  test("an alert whose threshold is null is never told; one that is left out has its default", () => {
    const alerts = { lowOccupancy: null, queueLength: null };
    expect(resolveEngineConfig({ alerts }, small).alerts).toEqual({
      lowOccupancy: null,
      queueLength: null,
      itlMs: "auto",
      failureRate: 0.05,
    });
  });

  test("the default cache is 16 contexts or 256 MiB, whichever is less", () => {
    const perBlock = kvBytesPerBlock(gpt2Xl, { kvCacheDtype: "f16", blockSize: 16 });
    expect(resolveEngineConfig({}, gpt2Xl).numGpuBlocks).toBe(Math.floor((256 * 2 ** 20) / perBlock));
    expect(resolveEngineConfig({ maxModelLen: 100 }, small).numGpuBlocks).toBe(16 * 7);
  });

  test("kvCacheBytes is rounded down to blocks, and numGpuBlocks overrides it", () => {
    const perBlock = kvBytesPerBlock(small, { kvCacheDtype: "f32", blockSize: 16 });
    expect(resolveEngineConfig({ kvCacheBytes: 3 * perBlock + 1, kvCacheDtype: "f32" }, small).numGpuBlocks).toBe(3);
    expect(resolveEngineConfig({ kvCacheBytes: 3 * perBlock, numGpuBlocks: 7 }, small).numGpuBlocks).toBe(7);
  });

  test.each([40, 100, 256, 1000])("states of sequences take their part of %i MiB", (mebibytes) => {
    const states = { numLayers: 18, convWidth: 6144, convRows: 3, numHeads: 16, keyDim: 128, valueDim: 128 };
    const shape = { ...small, states };
    const kvCacheBytes = mebibytes * 2 ** 20;
    const config = resolveEngineConfig({ kvCacheBytes }, shape);
    expect(cacheBytes(shape, config)).toBeLessThanOrEqual(kvCacheBytes);
    expect(cacheBytes(shape, { ...config, numGpuBlocks: config.numGpuBlocks + 1 })).toBeGreaterThan(kvCacheBytes);
    expect(() => resolveEngineConfig({ kvCacheBytes: 30 * 2 ** 20 }, shape)).toThrow(
      "the smallest cache of this model",
    );
  });

  test("a small token budget makes room for as many sequences", () => {
    expect(resolveEngineConfig({ maxNumBatchedTokens: 24 }, small).maxNumSeqs).toBe(24);
  });

  test("takes a backend's own token budget, unless more sequences are to run than that has rows", () => {
    const defaultText = { maxNumBatchedTokens: 64 };
    const budgetOf = (config: EngineConfig) => resolveEngineConfig(config, small, defaultText).maxNumBatchedTokens;
    expect([budgetOf({}), budgetOf({ maxNumSeqs: 100 }), budgetOf({ maxNumBatchedTokens: 512 })]).toEqual([
      64, 100, 512,
    ]);
    expect(() => budgetOf({ maxNumSeqs: 257 })).toThrow(/maxNumSeqs/);
  });

  test("null and undefined are as if left out", () => {
    const config = { maxNumSeqs: undefined, dtype: null, seed: 1 } as unknown as EngineConfig;
    expect(resolveEngineConfig(config, small)).toEqual(resolveEngineConfig({ seed: 1 }, small));
  });

  test("without a seed there is one, another each time", () => {
    const seeds = Array.from({ length: 4 }, () => resolveEngineConfig({}, small).seed);
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
    expect(new Set(seeds).size).toBe(4);
  });

  test.each([
    [{ maxNumSeq: 4 }, "unknown_parameter", "maxNumSeq", "Did you mean maxNumSeqs?"],
    [{ wroker: false }, "unknown_parameter", "wroker", "Did you mean worker?"],
    [{ max_num_seqs: 4 }, "unknown_parameter", "max_num_seqs", "Did you mean maxNumSeqs?"],
    [{ turbo: true }, "unknown_parameter", "turbo", "kvCacheBytes"],
    [{ maxNumSeqs: "8" }, "invalid_type", "maxNumSeqs", 'an integer, not "8"'],
    [{ maxNumSeqs: 1.5 }, "invalid_type", "maxNumSeqs", "not 1.5"],
    [{ maxNumSeqs: 0 }, "invalid_value", "maxNumSeqs", "between 1 and 1024, not 0"],
    [{ maxNumSeqs: 65, maxNumBatchedTokens: 64 }, "invalid_value", "maxNumSeqs", "maxNumBatchedTokens (64)"],
    [{ maxModelLen: 257 }, "invalid_value", "maxModelLen", "between 2 and 256, not 257"],
    [{ blockSize: 32 }, "invalid_value", "blockSize", "not 32"],
    [{ dtype: "int8" }, "invalid_value", "dtype", '"f32", "f16", "q8", "q4"'],
    [{ kvCacheDtype: 16 }, "invalid_type", "kvCacheDtype", "a string, not 16"],
    [{ kvCacheBytes: 100 }, "invalid_value", "kvCacheBytes", "65536 bytes"],
    [{ numGpuBlocks: -1 }, "invalid_value", "numGpuBlocks", "not -1"],
    [{ seed: NaN }, "invalid_type", "seed", "not NaN"],
    [{ seed: -1 }, "invalid_value", "seed", "not -1"],
    [{ runAhead: 5 }, "invalid_value", "runAhead", "between 0 and 4, not 5"],
    [{ targetItlMs: 0 }, "invalid_value", "targetItlMs", "above 0 and at most"],
    [{ longPrefillTokenThreshold: 257 }, "invalid_value", "longPrefillTokenThreshold", "between 0 and 256"],
    [{ alerts: { itl_ms: 9 } }, "unknown_parameter", "alerts.itl_ms", "Did you mean itlMs?"],
    [{ alerts: { failureRate: 5 } }, "invalid_value", "alerts.failureRate", "between 0 and 1, not 5"],
    [null, "invalid_type", null, "an object, not null"],
  ])("%j is refused by name", (config, code, param, part) => {
    const attempt = () => resolveEngineConfig(config as unknown as EngineConfig, small);
    expect(attempt).toThrow(expect.objectContaining({ code, param, message: expect.stringContaining(part) }));
  });

  test("whatever is given, the answer is a config or a ChorusError", () => {
    const value = fc.oneof(fc.jsonValue(), fc.integer(), fc.constantFrom("f32", "f16", undefined, NaN, Infinity));
    const names = [
      "maxNumSeqs",
      "maxNumBatchedTokens",
      "maxModelLen",
      "blockSize",
      "kvCacheBytes",
      "numGpuBlocks",
      "dtype",
      "seed",
      "x",
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 }), (config) => {
        try {
          const resolved = resolveEngineConfig(config, small);
          return resolved.numGpuBlocks >= 1 && resolved.maxNumSeqs <= resolved.maxNumBatchedTokens;
        } catch (error) {
          return error instanceof ChorusError && error.param !== null;
        }
      }),
      { numRuns: 2000 },
    );
  });
});
