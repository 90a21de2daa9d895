import { expect, it } from "vitest";

import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import { defineKernel } from "./define-kernel.ts";
import { Trials } from "../trials.ts";
import { openDevice } from "./device.ts";
import { KernelCompiler } from "./kernel.ts";

// Fails if the device reports an uncaught error.
const { device, adapterName } = await openTestDevice();

const probe = (body: string) =>
  defineKernel(
    "probe",
    `override SIZE: u32;\n@group(0) @binding(0) var<storage, read_write> y: array<u32>;`,
    `var<workgroup> w: array<u32, SIZE>;\n@compute @workgroup_size(1) fn probe() {\n${body}\n}`,
  );

const refused = (body: string, SIZE = 4) =>
  new KernelCompiler(device, { adapterName }).compile({ kernel: probe(body), constants: { SIZE } }).then(
    () => null,
    (error: unknown) => error,
  );

it("a kernel that does not compile gives one error with kernel, adapter, compiler's message and line", async () => {
  const error = await refused("  y[0] = missing;");
  expect(error).toMatchObject({ code: "kernel_refused" });
  expect(String(error)).toContain(`${adapterName} does not compile the kernel probe {"SIZE":4}`);
  expect(String(error)).toMatch(/probe\.wgsl:5:\d+ unresolved value 'missing'/);
});

it("so does one that exceeds the adapter's limits", async () => {
  const error = await refused("  y[0] = w[0];", 2 ** 20);
  expect(error).toMatchObject({ code: "kernel_refused" });
  expect(String(error)).toMatch(/workgroup/i);
});

it("a kernel that fails since the device is lost is not refused", async () => {
  const { device: own, failure } = await openDevice(navigator.gpu);
  const compiler = new KernelCompiler(own, { failure });
  const variant = { kernel: probe("  y[0] = missing;"), constants: { SIZE: 4 } };
  // A driver may fail with the device, before anybody says that it is lost.
  own.createComputePipelineAsync = () => Promise.reject(new Error("Removed."));
  own.destroy();
  await expect(compiler.tryOut(variant, () => compiler.compile(variant))).rejects.toMatchObject({
    code: "device_lost",
  });
});

it("a kernel is not proved by a pipeline that a lost device gives", async () => {
  const { device: own, failure } = await openDevice(navigator.gpu);
  const variant = { kernel: probe("  y[0] = w[0];"), constants: { SIZE: 4 } };
  own.destroy();
  await expect(new KernelCompiler(own, { failure }).compile(variant)).resolves.toBeDefined();
  const careful = new KernelCompiler(own, { failure, trials: new Trials().afterLoss() });
  await expect(careful.compile(variant)).rejects.toMatchObject({ code: "device_lost" });
});

it("a variant is compiled once, and progress is reported", async () => {
  const reported: [number, number][] = [];
  const compiler = new KernelCompiler(device, { onKernel: (...progress) => reported.push(progress) });
  const kernel = probe("  y[0] = w[0];");
  const pipelines = await Promise.all([4, 8, 4].map((SIZE) => compiler.compile({ kernel, constants: { SIZE } })));
  expect(pipelines[0]).toBe(pipelines[2]);
  expect(pipelines[0]).not.toBe(pipelines[1]);
  expect(reported).toEqual([
    [1, 2],
    [2, 2],
  ]);
});
