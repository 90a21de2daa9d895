import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { loadGolden } from "../../../tests/models/golden.ts";
import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import { submitPrompt } from "../../../tests/gpu/submit-prompt.ts";
import { GpuRunner } from "./gpu-runner.ts";
import { spanMs } from "./kernel-times.ts";
import { elapsedMs } from "./timestamps.ts";

const opened = await openTestDevice();
const golden = await loadGolden("gpt2-tiny");

async function createRunner(device: GPUDevice): Promise<GpuRunner> {
  const engine = resolveEngineConfig({ maxNumSeqs: 4, numGpuBlocks: 16 }, golden.weights.model.shape);
  return GpuRunner.create({ opened: { ...opened, device }, weights: golden.weights, engine });
}

it("gives a step a time above zero and no longer than the wait for it", async () => {
  expect(opened.device.features.has("timestamp-query")).toBe(true);
  const runner = await createRunner(opened.device);
  await submitPrompt(runner);
  const startMs = performance.now();
  const { gpuMs } = await submitPrompt(runner);
  const waitedMs = performance.now() - startMs;
  expect(gpuMs).toBeGreaterThan(0);
  expect(gpuMs).toBeLessThanOrEqual(waitedMs + 0.2); // both clocks are rounded to 0.1 ms
  runner.dispose();
});

it("times many steps in flight separately, without creating GPU objects", async () => {
  const runner = await createRunner(opened.device);
  await submitPrompt(runner);
  const held = runner.bytes;
  for (let round = 0; round < 3; round++) {
    const startMs = performance.now();
    const results = await Promise.all(Array.from({ length: 4 }, () => submitPrompt(runner)));
    const waitedMs = performance.now() - startMs;
    const times = results.map(({ gpuMs }) => gpuMs ?? -1);
    for (const gpuMs of times) expect(gpuMs).toBeGreaterThan(0);
    expect(times.reduce((sum, gpuMs) => sum + gpuMs, 0)).toBeLessThanOrEqual(waitedMs + 1);
    expect(new Set(results.map(({ sequences }) => sequences[0]?.drawn[0]?.tokenId)).size).toBe(1);
  }
  expect(runner.bytes).toBe(held);
  runner.dispose();
});

it("times each kernel of one step of eight while that is wanted, with the same token, without creating more", async () => {
  const runner = await createRunner(opened.device);
  const plain = await submitPrompt(runner);
  expect(plain.kernels ?? null).toBeNull();
  const before = runner.bytes;
  await runner.timeKernels?.(true);
  const held = runner.bytes;
  expect(held).toBeGreaterThan(before);
  // Four in flight at once.
  const results: Awaited<ReturnType<typeof submitPrompt>>[] = [];
  for (let round = 0; round < 5; round++) {
    // oxlint-disable-next-line no-await-in-loop -- the ring holds five steps
    results.push(...(await Promise.all(Array.from({ length: 4 }, () => submitPrompt(runner)))));
  }
  expect(results.flatMap(({ kernels }, i) => (kernels ? [i] : []))).toEqual([0, 8, 16]);
  for (const { sequences } of results) expect(sequences).toEqual(plain.sequences);
  for (const { kernels, gpuMs } of results) {
    if (!kernels) continue;
    expect(kernels.map(({ operation }) => operation)).toEqual(expect.arrayContaining(["embed", "layer 1 qkv"]));
    for (const { kernel } of kernels) expect(kernel).toMatch(/^[a-z0-9-]+$/);
    // One after the other, within the step.
    expect(kernels.map(({ startMs }) => startMs)).toEqual(
      kernels.map(({ startMs }) => startMs).toSorted((a, b) => a - b),
    );
    expect(gpuMs).toBe(spanMs(kernels));
    expect(gpuMs).toBeGreaterThan(0);
  }
  await runner.timeKernels?.(false);
  expect((await submitPrompt(runner)).kernels ?? null).toBeNull();
  expect(runner.bytes).toBe(held);
  runner.dispose();
});

it("gives no time on a device without timestamps, but the same token", async () => {
  const adapter = await navigator.gpu.requestAdapter();
  // All features but the timestamps.
  const device = await adapter?.requestDevice({ requiredFeatures: opened.hasSubgroups ? ["subgroups"] : [] });
  if (!device) throw new Error("no adapter");
  const [timed, untimed] = await Promise.all([createRunner(opened.device), createRunner(device)]);
  expect(untimed.timeKernels).toBeNull();
  const [expected, result] = [await submitPrompt(timed), await submitPrompt(untimed)];
  expect(result.gpuMs).toBeNull();
  expect(result.kernels ?? null).toBeNull();
  expect(result.sequences).toEqual(expected.sequences);
  timed.dispose();
  untimed.dispose();
  device.destroy();
});

it("reads 64-bit timestamps, and detects a clock that was set back", () => {
  expect(elapsedMs(Uint32Array.of(2 ** 32 - 1_000_000, 7, 500_000, 8))).toBe(1.5);
  expect(elapsedMs(Uint32Array.of(500_000, 8, 0, 8))).toBeNull();
});
