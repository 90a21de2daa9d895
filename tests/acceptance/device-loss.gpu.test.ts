// The GPU is taken away in mid-batch, while it idles and while a model is loaded: every answer is what it is undisturbed, to
// the last bit.

import { expect, it } from "vitest";

import { createEngine, type ChorusEngine } from "../../src/index.ts";
import { answersTogether, REQUESTS, run } from "../requests/exactness.ts";
import { compileAfter, tampered } from "../gpu/tampered-gpu.ts";

const TINY = {
  model: "/tests/fixtures/gpt2-tiny/",
  worker: false,
  backend: "webgpu",
  dtype: "f32",
  kvCacheDtype: "f32",
} as const;

const NUM_REQUESTS = 5;
const devices: GPUDevice[] = [];
const gpu = tampered({ onDevice: (device) => devices.push(device) });

/** Resolves after that many steps. */
function steps(engine: ChorusEngine, count: number): Promise<void> {
  return new Promise((resolve) => {
    const off = engine.on("step", () => {
      count -= 1;
      if (count > 0) return;
      off();
      resolve();
    });
  });
}

it("answers go on with the same tokens and log-probabilities when their device is destroyed", async () => {
  await using engine = await createEngine({ ...TINY, gpu });
  const undisturbed = await answersTogether(engine, 12, NUM_REQUESTS);
  const events: string[] = [];
  engine.on("device", ({ status }) => events.push(status));
  engine.on("fatal", ({ code }) => events.push(code));

  const answers = answersTogether(engine, 12, NUM_REQUESTS);
  await steps(engine, 8);
  devices.at(-1)?.destroy();
  expect(await answers).toEqual(undisturbed);
  expect(devices).toHaveLength(2);
  expect(events).toEqual(["lost", "replaced"]);
  const stats = await engine.stats();
  expect(stats).toMatchObject({ device_losses_total: 1, num_gpu_blocks_free: stats.num_gpu_blocks });
});

it("a model is loaded again when the device is destroyed meanwhile, and an idle engine gets another one", async () => {
  devices.length = 0;
  let numKernels = 0;
  const onProgress = ({ stage }: { stage: string }) => {
    if (stage === "kernels" && ++numKernels === 2) devices.at(-1)?.destroy();
  };
  await using engine = await createEngine({ ...TINY, gpu, onProgress });
  expect(devices).toHaveLength(2);
  const request = { ...REQUESTS[0], prompt: [1, 2, 3] };
  const undisturbed = await run(engine, request);
  const replaced = new Promise((resolve) =>
    engine.on("device", ({ status }) => void (status === "replaced" && resolve(status))),
  );
  devices.at(-1)?.destroy();
  await replaced;
  expect(await run(engine, request)).toEqual(undisturbed);
});

it("a later kernel at which the device is lost is not tried again for any product, and others are", async () => {
  const compiled: string[][] = [];
  const tampering = tampered({
    onDevice: (device) => {
      const index = compiled.push([]) - 1;
      compileAfter(device, async (label) => {
        compiled[index]?.push(label.split(" ")[0] ?? "");
        if (index === 0 && label.startsWith("matmul-row ")) device.destroy();
      });
    },
  });
  await using engine = await createEngine({ ...TINY, gpu: tampering });
  const replaced = new Promise((resolve) =>
    engine.on("device", ({ status }) => void (status === "replaced" && resolve(status))),
  );
  const request = { ...REQUESTS[0], prompt: [1, 2, 3] };
  const answer = await run(engine, request);
  await replaced;
  expect(await run(engine, request)).toEqual(answer);
  await expect.poll(() => compiled[1]).toContain("matmul-lane");
  await expect.poll(() => compiled[1]).toContain("process-logits");
  expect(compiled[1]).not.toContain("matmul-row");
  expect(compiled).toHaveLength(2);
});

it("a kernel of the first step whose compilation loses the device is found, and its products begin with another", async () => {
  const compiled: string[][] = [];
  const tampering = tampered({
    onDevice: (device) => {
      const own: string[] = [];
      compiled.push(own);
      compileAfter(device, async (label) => {
        own.push(label.split(" ")[0] ?? "");
        if (label.startsWith("matmul-any ")) device.destroy();
      });
    },
  });
  await using undisturbed = await createEngine({ ...TINY, gpu });
  await using engine = await createEngine({ ...TINY, gpu: tampering });
  expect(engine.model.notice).toBeNull();
  const request = { ...REQUESTS[0], prompt: [1, 2, 3] };
  expect(await run(engine, request)).toEqual(await run(undisturbed, request));
  expect(compiled.map((labels) => labels.includes("matmul-any"))).toEqual([true, true, false]);
});
