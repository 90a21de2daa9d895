import { describe, expect, it } from "vitest";
import { resolveEngineConfig } from "../../../api/engine-config.ts";
import {
  checkServing,
  engineConfigOf,
  isUsedWith,
  readServing,
  SERVING_FIELDS,
  servingOf,
  writeServing,
  writeServingLink,
  type ServingField,
} from "./serving-settings.ts";

const MODEL = { numLayers: 2, numKvHeads: 2, headDim: 32, maxPositions: 512 };

/** What the field needs beside it. */
const besides = (field: ServingField) => {
  const { name } = field;
  const method = ["", "ngram", "draft_model"].find((one) => isUsedWith(field, one));
  return {
    ...(name === "maxNumSeqs" || name === "longPrefillTokenThreshold" ? { maxNumBatchedTokens: 8192 } : {}),
    ...(method && { "speculation.method": method }),
    ...(method === "draft_model" && { "speculation.model": "owner/name" }),
  };
};

function extremesOf(field: ServingField): unknown[] {
  switch (field.kind) {
    case "integer":
    case "number":
      return [field.above ? Number.MIN_VALUE : field.min, field.max, ...(field.hasOff ? ["off"] : [])];
    case "choice":
      return [...field.choices];
    case "flag":
      return [true, false];
    case "text":
    case "lines":
    case "json":
      return ["owner/name", "models/small/"];
  }
}

describe.each(SERVING_FIELDS.map((field) => [field.name, field] as const))("%s", (name, field) => {
  const others = name === "speculation.method" ? { "speculation.model": "owner/name" } : besides(field);

  it("what the table allows, the engine takes", () => {
    for (const value of extremesOf(field)) {
      const given = value === "ngram" ? { [name]: value } : { ...others, [name]: value };
      const settings = checkServing(given);
      expect(() => resolveEngineConfig(engineConfigOf(settings), MODEL)).not.toThrow();
    }
  });

  it("is the same again from a link and from a config", () => {
    for (const value of extremesOf(field)) {
      const settings = checkServing(value === "ngram" ? { [name]: value } : { ...others, [name]: value });
      const [, query] = writeServingLink(settings).split("?");
      expect(readServing(Object.fromEntries(new URLSearchParams(query)))).toEqual(settings);
      expect(readServing(writeServing(settings))).toEqual(settings);
      if (name !== "batchingMode") expect(servingOf(engineConfigOf(settings))).toEqual(settings);
    }
  });
});

it("a link has the config's names, and the config its shape", () => {
  const settings = readServing({ maxNumSeqs: " 4 ", batchingMode: "static", maxQueueSize: "" });
  expect(writeServingLink(settings)).toBe("#/?batchingMode=static&maxNumSeqs=4");
  const speculation = { method: "draft_model", model: "distilbert/distilgpt2", num_speculative_tokens: 2 } as const;
  const config = { runAhead: 0, speculation, alerts: { itlMs: null, queueLength: 8 } };
  expect(engineConfigOf(servingOf(config))).toEqual(config);
  expect(servingOf({ speculation: null, targetItlMs: null })).toEqual({});
  expect(checkServing({ maxNumSeqs: 4, maxQueueSize: null, "alerts.itlMs": null, batchingMode: null })).toEqual({
    maxNumSeqs: 4,
  });
  expect(writeServingLink({})).toBe("#/");
});

it("the batching mode is no part of the config: it is changed while the engine runs", () => {
  expect(engineConfigOf({ batchingMode: "static", batchWindowMs: 10 })).toEqual({ batchWindowMs: 10 });
});

it.each([
  [{ maxNumSeqs: "0" }, "maxNumSeqs", "Most answers at once (maxNumSeqs) must be a whole number from 1 to 1024."],
  [{ maxNumSeqs: "many" }, "maxNumSeqs", "a whole number"],
  [{ runAhead: "1.5" }, "runAhead", "Run-ahead (runAhead) must be a whole number from 0 to 4."],
  [{ "alerts.queueLength": "never" }, "alerts.queueLength", ", or off."],
  [{ enablePrefixCaching: "maybe" }, "enablePrefixCaching", "must be true or false"],
  [{ batchingMode: "dynamic" }, "batchingMode", "must be one of continuous, static, sequential."],
  [{ maxSequences: "4" }, "maxSequences", 'There is no serving setting "maxSequences".'],
  [{ maxNumSeqs: "300" }, "maxNumSeqs", "at most the token budget (maxNumBatchedTokens: 256, unless"],
  [{ maxNumSeqs: "9", maxNumBatchedTokens: "8" }, "maxNumSeqs", "at most the token budget (maxNumBatchedTokens: 8)."],
  [
    { longPrefillTokenThreshold: "9", maxNumBatchedTokens: "8" },
    "longPrefillTokenThreshold",
    "at most the token budget (maxNumBatchedTokens: 8).",
  ],
  [{ "speculation.method": "draft_model" }, "speculation.model", "given where a draft model drafts."],
  [{ "speculation.model": "a/b" }, "speculation.model", 'needs speculation.method "draft_model".'],
  [{ "speculation.num_speculative_tokens": "2" }, "speculation.num_speculative_tokens", '"ngram" or "draft_model".'],
])("%j is refused by name", (typed, param, message) => {
  const refusal = expect.objectContaining({ param, message: expect.stringContaining(message) as string }) as Error;
  expect(() => readServing(typed)).toThrow(refusal);
});
