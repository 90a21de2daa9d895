// Values at a field's limits must work: the GPU's tests are in field-limits.gpu.test.ts.

import { readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";

import { bundledHelperUrl } from "../../../tests/cpu/bundled-helper.ts";
import { createEngine } from "../../index.ts";
import {
  AT_CONFIG_LIMITS,
  AT_REQUEST_LIMITS,
  differencesAtConfigLimits,
  differencesAtRequestLimits,
} from "../../../tests/requests/field-limits.ts";

vi.mock("./threads/helper.worker.ts?worker&url", async () => ({ default: await bundledHelperUrl() }));

const model = ["config.json", "tokenizer.json", "model.safetensors"].map(
  (name) => new File([readFileSync(`tests/fixtures/llama-tiny/tied/${name}`)], name),
);
const options = { model, backend: "cpu", worker: false } as const;
/**
 * Helpers are for the cases of `cpuThreads`: a machine of few cores starts them for nothing. Of 64, some did not start beside
 * the tier's other files.
 */
const onOneThread: typeof createEngine = ({ cpuThreads = 1, ...requested }) =>
  createEngine({ ...requested, cpuThreads: cpuThreads === null ? null : Math.min(cpuThreads, 8) });

it("at the limits of its config's fields an engine gives the same answers, or says which field is to blame", async () => {
  expect(await differencesAtConfigLimits(onOneThread, options)).toEqual(AT_CONFIG_LIMITS);
});

it("at the limits of a request's fields an answer is what it is alone, and no other than its field asks for", async () => {
  expect(await differencesAtRequestLimits(onOneThread, options)).toEqual(AT_REQUEST_LIMITS);
});
