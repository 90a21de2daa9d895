// Values at a field's limits must work: all are tried on the CPU, in backends/cpu/field-limits.test.ts. Here are those that a
// backend sees; that an answer is what it is alone, exactness.gpu.test.ts says.

import { expect, it } from "vitest";

import { createEngine } from "../../src/index.ts";
import { withCommonDevice } from "../gpu/one-device.ts";
import {
  AT_CONFIG_LIMITS,
  AT_REQUEST_LIMITS,
  differencesAtConfigLimits,
  differencesAtRequestLimits,
  ofFields,
} from "../requests/field-limits.ts";

const gpu = await withCommonDevice();
const files = ["config.json", "tokenizer.json", "model.safetensors"].map(async (name) => {
  const response = await fetch(`/tests/fixtures/llama-tiny/tied/${name}`);
  return new File([await response.blob()], name);
});
const options = { model: await Promise.all(files), backend: "webgpu", worker: false, gpu } as const;

const OF_BACKENDS = [
  "maxNumSeqs",
  "maxNumBatchedTokens",
  "maxModelLen",
  "blockSize",
  "kvCacheBytes",
  "numGpuBlocks",
  "runAhead",
  "speculation",
] as const;
const OF_SAMPLERS = [
  "temperature",
  "top_k",
  "top_p",
  "min_p",
  "typical_p",
  "repetition_penalty",
  "presence_penalty",
  "frequency_penalty",
  "no_repeat_ngram_size",
  "seed",
  "logprobs",
  "prompt_logprobs",
] as const;

it("at the limits of its config's fields an engine gives the same answers, or says which field is to blame", async () => {
  expect(await differencesAtConfigLimits(createEngine, options, OF_BACKENDS)).toEqual(AT_CONFIG_LIMITS);
});

it("at the limits of a request's fields, all at once, an answer is no other than its field asks for", async () => {
  expect(
    await differencesAtRequestLimits(createEngine, options, { isAlsoAlone: false, fieldNames: OF_SAMPLERS }),
  ).toEqual({
    "different seeds": AT_REQUEST_LIMITS["different seeds"],
    ...ofFields<unknown>(AT_REQUEST_LIMITS, OF_SAMPLERS),
  });
});
