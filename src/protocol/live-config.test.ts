import { describe, expect, it } from "vitest";

import type { EngineConfig } from "./config.ts";
import { changesBetween, fieldThatRestarts, type LoadedSizes } from "./live-config.ts";

const LOADED: LoadedSizes = {
  maxNumSeqs: 64,
  maxNumBatchedTokens: 256,
  maxSpareSamples: 8,
  draftModel: null,
  defaultBatchedTokens: null,
};
const restarts = (before: EngineConfig, after: EngineConfig, changes: Partial<LoadedSizes> = {}) =>
  fieldThatRestarts(before, after, { ...LOADED, ...changes });

describe("a running engine", () => {
  it("takes smaller steps, and is loaded again for larger ones", () => {
    expect(restarts({}, { maxNumSeqs: 4, maxNumBatchedTokens: 16 })).toBeNull();
    expect(restarts({}, { maxNumSeqs: 65 })).toBe("maxNumSeqs");
    expect(restarts({}, { maxNumBatchedTokens: 257 })).toBe("maxNumBatchedTokens");
  });

  it("is loaded again for a default that is larger than what it has", () => {
    const small = { maxNumSeqs: 4, maxNumBatchedTokens: 16 };
    expect(restarts(small, { maxNumSeqs: 4 }, small)).toBe("maxNumBatchedTokens");
    expect(restarts(small, { maxNumBatchedTokens: 16 }, small)).toBe("maxNumSeqs");
    expect(restarts(small, { maxNumSeqs: 4 }, { ...small, defaultBatchedTokens: 16 })).toBeNull();
  });

  it("drafts as far as it has samples for drafts", () => {
    const ngram = (num_speculative_tokens?: number) => ({
      speculation: {
        method: "ngram" as const,
        ...(num_speculative_tokens !== undefined && { num_speculative_tokens }),
      },
    });
    expect(restarts({}, ngram())).toBe("speculation");
    expect(restarts({}, { ...ngram(), maxNumSeqs: 2 })).toBeNull();
    expect(restarts(ngram(), {}, { maxSpareSamples: 64 })).toBeNull();
    expect(restarts({}, ngram(16), { maxSpareSamples: 64 })).toBeNull();
  });

  it("is loaded again for a draft model that it doesn't have, and drafts with its own or without it", () => {
    const draft = (model: string, num_speculative_tokens = 4): EngineConfig => ({
      speculation: { method: "draft_model", model, num_speculative_tokens },
    });
    expect(restarts({}, draft("a/b"), { maxSpareSamples: 64 })).toBe("speculation.model");
    const sizes = { maxSpareSamples: 64, draftModel: "a/b" };
    expect(restarts(draft("a/b"), {}, sizes)).toBeNull();
    expect(restarts(draft("a/b"), { speculation: { method: "ngram" } }, sizes)).toBeNull();
    expect(restarts({}, draft("a/b"), sizes)).toBeNull();
    expect(restarts(draft("a/b"), draft("a/c"), sizes)).toBe("speculation.model");
    expect(restarts(draft("a/b"), draft("a/b", 2), sizes)).toBeNull();
  });

  it("is loaded again for all that is fixed", () => {
    expect(restarts({}, { numGpuBlocks: 64 })).toBe("numGpuBlocks");
    expect(restarts({ dtype: "f16" }, {})).toBe("dtype");
    expect(
      restarts({ dtype: "f16" }, { dtype: "f16", runAhead: 0, logLevel: "info", enablePrefixCaching: false }),
    ).toBeNull();
  });
});

it("changes lead from one config to the other: what is left out goes back to its default", () => {
  const before: EngineConfig = {
    maxNumSeqs: 4,
    targetItlMs: 30,
    alerts: { itlMs: null },
    schedulingPolicy: "balanced",
  };
  expect(changesBetween(before, { maxNumSeqs: 8, alerts: {}, schedulingPolicy: "balanced" })).toEqual({
    maxNumSeqs: 8,
    targetItlMs: null,
    alerts: {},
  });
  expect(changesBetween(before, { ...before, runAhead: 0 })).toEqual({ runAhead: 0 });
});
