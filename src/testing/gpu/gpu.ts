// Running single kernels on a real device, for the tests of the GPU tier.

import { afterAll, expect } from "vitest";

import { openDevice, type OpenedDevice } from "../../backends/gpu/device.ts";
import { KernelCompiler, type Kernel, type KernelBuffers, type KernelConstants } from "../../backends/gpu/kernel.ts";
import { withCommonDevice } from "./one-device.ts";

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
export async function runKernel<K extends Kernel>(
  device: GPUDevice,
  kernel: K,
  constants: KernelConstants<K>,
  data: Readonly<Record<K["bindings"][number][0], Data>>,
  workgroups: readonly [x: number, y: number, z?: number],
): Promise<Record<string, ArrayBuffer>> {
  const compiler = compilerOf(device);
  const pipeline = await compiler.pipeline(kernel, constants);
  const buffers: Record<string, GPUBuffer> = {};
  for (const [name, type] of kernel.bindings) {
    const contents: Data = data[name as K["bindings"][number][0]];
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
  pass.setBindGroup(0, compiler.bind(kernel, buffers as unknown as KernelBuffers<K>));
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

export async function readBuffer(device: GPUDevice, buffer: GPUBuffer): Promise<ArrayBuffer> {
  const staging = device.createBuffer({ size: buffer.size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const copy = staging.getMappedRange().slice(0);
  staging.destroy();
  return copy;
}

/** Whether two outputs are the same to the last bit, as the number of words that are not. */
export function differingWords(a: ArrayBuffer | undefined, b: ArrayBuffer | undefined): number {
  const [x, y] = [new Uint32Array(a ?? new ArrayBuffer(0)), new Uint32Array(b ?? new ArrayBuffer(0))];
  if (x.length === 0 || x.length !== y.length) return Infinity;
  return x.reduce((count, word, i) => count + Number(word !== y[i]), 0);
}

/** The output as floats. */
export function floatsOf(outputs: Record<string, ArrayBuffer>, name: string): Float32Array {
  return new Float32Array(outputs[name] ?? new ArrayBuffer(0));
}

/** Deterministic numbers in [-scale, scale), never the same twice in a row. */
export function randomFloats(length: number, seed: number, scale = 1): Float32Array<ArrayBuffer> {
  const values = new Float32Array(length);
  let state = (seed * 2654435761 + 1) >>> 0;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = (state / 2 ** 31 - 1) * scale;
  }
  return values;
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
