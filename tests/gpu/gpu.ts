// Running single kernels on a real device, for the tests of the GPU tier.

import { afterAll, expect } from "vitest";

import { openDevice, type OpenedDevice } from "../../src/backends/gpu/device.ts";
import type { Kernel } from "../../src/backends/gpu/define-kernel.ts";
import { KernelCompiler, type KernelConstants } from "../../src/backends/gpu/kernel.ts";
import { readBuffer } from "./buffers.ts";
import { withCommonDevice } from "./one-device.ts";

export { differingWords, randomFloats, readBuffer } from "./buffers.ts";

/** The device of all test files; a file fails where the device reports an error that nobody caught. */
export async function openTestDevice(): Promise<OpenedDevice> {
  const opened = await openDevice(await withCommonDevice());
  const failures: string[] = [];
  void opened.failure.then((error) => failures.push(error.message));
  afterAll(async () => {
    await opened.device.queue.onSubmittedWorkDone();
    await Promise.resolve();
    expect(failures).toEqual([]);
  });
  return opened;
}

type Data = Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** One compiler per device: compiling is most of what the tests of kernels take. */
const compilers = new WeakMap<GPUDevice, KernelCompiler>();

function compilerOf(device: GPUDevice): KernelCompiler {
  const compiler = compilers.get(device) ?? new KernelCompiler(device);
  compilers.set(device, compiler);
  return compiler;
}

/** Uploads the buffers, runs the kernel once, and gives back the words of those it may write, by name. */
export async function runKernel(
  device: GPUDevice,
  kernel: Kernel,
  constants: KernelConstants,
  data: Readonly<Record<string, Data>>,
  workgroups: readonly [x: number, y: number, z?: number],
  compiler = compilerOf(device),
): Promise<Record<string, ArrayBuffer>> {
  const pipeline = await compiler.compile({ kernel, constants });
  const buffers: Record<string, GPUBuffer> = {};
  for (const [name, type] of kernel.bindings) {
    const contents = data[name];
    if (!contents) throw new Error(`${kernel.name} is given nothing for ${name}`);
    const usage = type === "uniform" ? GPUBufferUsage.UNIFORM : GPUBufferUsage.STORAGE;
    const size = Math.max(16, contents.byteLength);
    const buffer = device.createBuffer({
      label: name,
      size,
      usage: usage | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC,
    });
    device.queue.writeBuffer(buffer, 0, contents);
    buffers[name] = buffer;
  }
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, compiler.bind(kernel, buffers));
  pass.dispatchWorkgroups(...workgroups);
  pass.end();
  device.queue.submit([encoder.finish()]);

  const outputs: Record<string, ArrayBuffer> = {};
  for (const [name, type] of kernel.bindings) {
    const buffer = buffers[name];
    if (type === "storage" && buffer) outputs[name] = await readBuffer(device, buffer);
  }
  for (const buffer of Object.values(buffers)) buffer.destroy();
  return outputs;
}

/** The output as floats. */
export function floatsOf(outputs: Record<string, ArrayBuffer>, name: string): Float32Array {
  return new Float32Array(outputs[name] ?? new ArrayBuffer(0));
}

/** Every value within `tolerance` of the reference; names the worst one. */
export function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  let worst = -1;
  let worstError = tolerance;
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs((actual[i] ?? NaN) - (expected[i] ?? NaN));
    if (!(error <= worstError)) {
      worst = i;
      worstError = error;
    }
  }
  const message = `[${worst}] is ${actual[worst]}, not ${expected[worst]} (off by ${worstError}, tolerance ${tolerance})`;
  expect(worst, message).toBe(-1);
}
