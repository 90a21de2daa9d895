// Timing kernels is a wish of a moment: where the GPU refuses what it takes, everything goes on without it.

import { afterEach, expect, it, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import { loadGolden } from "../../../tests/models/golden.ts";
import { submitPrompt } from "../../../tests/gpu/submit-prompt.ts";
import { GpuRunner } from "./gpu-runner.ts";

const opened = await openTestDevice();
const { weights } = await loadGolden("gpt2-tiny");
const engine = resolveEngineConfig({ maxNumSeqs: 4, numGpuBlocks: 16 }, weights.model.shape);

afterEach(() => void vi.restoreAllMocks());

/** Opens a device that tests may spoil: by errors that openTestDevice would report. */
async function openOwnDevice() {
  const adapter = await navigator.gpu.requestAdapter();
  const requiredFeatures = [...opened.device.features].filter((name) => name !== "core-features-and-limits");
  const device = await adapter?.requestDevice({ requiredFeatures: requiredFeatures as GPUFeatureName[] });
  return device ?? expect.fail("no adapter");
}
const ownDevice = await openOwnDevice();

/** A runner on that device, and the device's uncaptured errors. */
async function openOwnRunner() {
  const uncaptured: string[] = [];
  ownDevice.addEventListener("uncapturederror", ({ error }) => uncaptured.push(error.message));
  const runner = await GpuRunner.create({ opened: { ...opened, device: ownDevice }, weights, engine });
  const { timeKernels } = runner;
  if (!timeKernels) throw new Error("no timestamps");
  return { runner, timeKernels, uncaptured };
}

const isTimed = async (runner: GpuRunner) => ((await submitPrompt(runner)).kernels ?? null) !== null;

/** What the drivers of some GPUs do with what a query set, or its buffers, ask for. */
const REFUSALS: readonly [what: string, refuse: (device: GPUDevice) => void][] = [
  [
    "more queries than it takes",
    (device) => {
      const create = device.createQuerySet.bind(device);
      vi.spyOn(device, "createQuerySet").mockImplementation((set) => create({ ...set, count: 2 * set.count }));
    },
  ],
  [
    "a buffer, by an error",
    (device) => {
      vi.spyOn(device, "createBuffer").mockImplementation(() => {
        throw new RangeError("createBuffer failed");
      });
    },
  ],
  [
    "a buffer, by its scope",
    (device) => {
      const create = device.createBuffer.bind(device);
      vi.spyOn(device, "createBuffer").mockImplementation((buffer) => create({ ...buffer, size: 2 ** 50 }));
    },
  ],
];

it.each(REFUSALS)(
  "a GPU that refuses %s times nothing, and goes on; it is asked again next time",
  async (_, refuse) => {
    const { runner, timeKernels, uncaptured } = await openOwnRunner();
    const { bytes } = runner;
    const untimed = await submitPrompt(runner);
    refuse(ownDevice);
    expect(await timeKernels(true)).toBe(false);
    expect(runner.bytes).toBe(bytes);
    expect(await submitPrompt(runner)).toEqual({ ...untimed, gpuMs: expect.any(Number) });
    vi.restoreAllMocks();
    expect(await timeKernels(true)).toBe(true);
    expect(await isTimed(runner)).toBe(true);
    expect(uncaptured).toEqual([]);
    runner.dispose();
  },
);

it("is over with the last wish, also where the GPU is still making what it takes, and with the runner", async () => {
  const { runner, timeKernels } = await openOwnRunner();
  const wishes = [true, false, true, false].map((isRequested) => timeKernels(isRequested));
  await Promise.all(wishes);
  expect(await isTimed(runner)).toBe(false);
  const made = vi.spyOn(ownDevice, "createQuerySet");
  expect(await timeKernels(true)).toBe(true);
  expect(made).not.toHaveBeenCalled();
  expect(await isTimed(runner)).toBe(true);
  runner.dispose();

  const late = await openOwnRunner();
  const wish = late.timeKernels(true);
  late.runner.dispose();
  expect(await wish).toBe(false);
  expect(late.runner.bytes).toBe(0);
});

it("one of eight steps is timed, but none while the times of another are still being read", async () => {
  const { runner, timeKernels } = await openOwnRunner();
  const created = vi.spyOn(ownDevice, "createBuffer");
  await timeKernels(true);
  const inTurn: boolean[] = [];
  for (let step = 0; step < 17; step++) inTurn.push(await isTimed(runner));
  expect(inTurn.flatMap((timed, step) => (timed ? [step] : []))).toEqual([0, 8, 16]);

  await timeKernels(true);
  const results = created.mock.results.map(({ value }) => value as GPUBuffer);
  const times =
    results.find(({ usage }) => (usage & GPUBufferUsage.MAP_READ) > 0) ?? expect.fail("no buffer is mapped");
  let read = (): void => undefined;
  const isRead = new Promise<void>((resolve) => (read = resolve));
  const map = times.mapAsync.bind(times);
  vi.spyOn(times, "mapAsync").mockImplementation(async (...range) => {
    await isRead;
    await map(...range);
  });
  const slow = isTimed(runner);
  for (let step = 1; step <= 8; step++) expect(await isTimed(runner)).toBe(false);
  read();
  expect(await slow).toBe(true);
  runner.dispose();
});

it("a GPU that is lost times nothing, without an error", async () => {
  const { runner, timeKernels } = await openOwnRunner();
  // No test comes after this one.
  ownDevice.destroy();
  await ownDevice.lost;
  // What Chromium says when its GPU process ends.
  vi.spyOn(ownDevice, "popErrorScope").mockRejectedValue(new DOMException("Instance dropped", "OperationError"));
  expect(await timeKernels(true)).toBe(false);
  runner.dispose();
});
