// Under "auto" a GPU may refuse any call: the CPU answers, and says why.

import { expect, it } from "vitest";

import { createEngine } from "../../src/index.ts";
import { compileAfter, tampered } from "../gpu/tampered-gpu.ts";

/** Ways in which a device fails, and what is then said of it. */
const FAULTS: readonly (readonly [string, (device: GPUDevice) => void])[] = [
  ["createShaderModule", (device) => (device.createShaderModule = boom)],
  ["createBuffer", (device) => (device.createBuffer = boom)],
  ["submit", ({ queue }) => (queue.submit = boom)],
  ["every pipeline", (device) => compileAfter(device, () => Promise.reject(new Error("boom")))],
];

function boom(): never {
  throw new Error("boom");
}

it.concurrent.each(FAULTS)("%s fails", async (name, onDevice) => {
  // A name of its own: what is remembered of it is remembered of no other.
  const gpu = tampered({ pretendHardware: true, name: `failing ${name}`, onDevice });
  await using engine = await createEngine({ model: "/tests/fixtures/gpt2-tiny/", worker: false, backend: "auto", gpu });
  expect(engine.model).toMatchObject({ backend: "cpu", notice: expect.any(String) as string });
  const { choices } = await engine.completions.create({ prompt: "The", max_tokens: 3, ignore_eos: true });
  expect(choices[0]?.finish_reason).toBe("length");
});
