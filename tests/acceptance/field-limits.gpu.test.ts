// Values at a field's limits must work: the CPU's tests are in backends/cpu/field-limits.test.ts.

import { expect, it } from "vitest";

import { createEngine } from "../../src/index.ts";
import { withCommonDevice } from "../gpu/one-device.ts";
import {
  AT_CONFIG_LIMITS,
  AT_REQUEST_LIMITS,
  differencesAtConfigLimits,
  differencesAtRequestLimits,
} from "../requests/field-limits.ts";

const gpu = await withCommonDevice();
const files = ["config.json", "tokenizer.json", "model.safetensors"].map(async (name) => {
  const response = await fetch(`/tests/fixtures/llama-tiny/tied/${name}`);
  return new File([await response.blob()], name);
});
const options = { model: await Promise.all(files), backend: "webgpu", worker: false, gpu } as const;

it("at the limits of its config's fields an engine gives the same answers, or says which field is to blame", async () => {
  expect(await differencesAtConfigLimits(createEngine, options)).toEqual(AT_CONFIG_LIMITS);
});

it("at the limits of a request's fields an answer is what it is alone, and no other than its field asks for", async () => {
  expect(await differencesAtRequestLimits(createEngine, options)).toEqual(AT_REQUEST_LIMITS);
});
