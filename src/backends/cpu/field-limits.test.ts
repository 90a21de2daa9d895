// Values at a field's limits must work: the GPU's tests are in field-limits.gpu.test.ts.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

import { createEngine } from "../../index.ts";
import {
  AT_CONFIG_LIMITS,
  AT_REQUEST_LIMITS,
  differencesAtConfigLimits,
  differencesAtRequestLimits,
} from "../../../tests/requests/field-limits.ts";

const model = ["config.json", "tokenizer.json", "model.safetensors"].map(
  (name) => new File([readFileSync(`tests/fixtures/llama-tiny/tied/${name}`)], name),
);
const options = { model, backend: "cpu", worker: false } as const;
/** Helpers are for the cases of `cpuThreads`: a machine of few cores starts them for nothing. */
const onOneThread: typeof createEngine = (requested) => createEngine({ cpuThreads: 1, ...requested });

it("at the limits of its config's fields an engine gives the same answers, or says which field is to blame", async () => {
  expect(await differencesAtConfigLimits(onOneThread, options)).toEqual(AT_CONFIG_LIMITS);
});

it("at the limits of a request's fields an answer is what it is alone, and no other than its field asks for", async () => {
  expect(await differencesAtRequestLimits(onOneThread, options)).toEqual(AT_REQUEST_LIMITS);
});
