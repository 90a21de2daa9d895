// An adapter that takes subnormal halves for zero is simulated: its kernels unpack them so.

import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { differingWords, openTestDevice } from "../../../tests/gpu/gpu.ts";
import { withTamperedDevice } from "../../../tests/gpu/one-device.ts";
import { lastLogits } from "../../../tests/gpu/runner-runs.ts";
import { miscompile } from "../../../tests/gpu/tampered-gpu.ts";
import { loadGolden } from "../../../tests/models/golden.ts";
import { openDevice, type OpenedDevice } from "./device.ts";
import { flushesHalves } from "./flushed-halves.ts";
import { GpuRunner } from "./gpu-runner.ts";

const opened = await openTestDevice();
const { weights } = await loadGolden("gpt2-tiny");
const { vocabSize } = weights.model.shape;

const FLUSHING = `
fn flushing(word: u32) -> vec2<f32> {
  let values = unpack2x16float(word);
  return select(values, vec2(0.0), abs(values) < vec2(0x1p-14));
}`;

/** Returns the logits after a prompt, with weights and a cache in halves. */
async function logitsOn(device: OpenedDevice, isFlushing?: Promise<boolean>): Promise<ArrayBuffer> {
  const sizes = { maxNumSeqs: 1, maxNumBatchedTokens: 32, numGpuBlocks: 64 } as const;
  const engine = resolveEngineConfig({ ...sizes, dtype: "f16", kvCacheDtype: "f16" }, weights.model.shape);
  const runner = await GpuRunner.create({ opened: device, weights, engine, isFlushing });
  const prompt = Array.from({ length: 23 }, (_, i) => (i * 29 + 7) % vocabSize);
  const logits = await lastLogits(device, runner, prompt, vocabSize);
  runner.dispose();
  return logits.slice().buffer;
}

it("an adapter that flushes subnormal halves is noticed, and computes the bits of others", async () => {
  expect(await flushesHalves(opened)).toBe(false);
  const right = await logitsOn(opened);
  const gpu = await withTamperedDevice("flushing", (device) =>
    miscompile(device, (_label, code) =>
      code.includes("unpack2x16float(") ? code.replaceAll("unpack2x16float(", "flushing(") + FLUSHING : code,
    ),
  );
  const flushing = await openDevice(gpu);
  expect(await flushesHalves(flushing)).toBe(true);
  expect(differingWords(await logitsOn(flushing), right)).toBe(0);
  // It would have others, if nobody noticed.
  expect(differingWords(await logitsOn(flushing, Promise.resolve(false)), right)).toBeGreaterThan(0);
});
