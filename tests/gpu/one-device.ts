import { afterAll, onTestFinished } from "vitest";

import { shareDevice, type SharedDevice } from "./shared-device.ts";
import { tampered } from "./tampered-gpu.ts";

/** The files run one after the other in one page: what one compiled, the next has. */
let common: Promise<SharedDevice> | undefined;

/** WebGPU with one device for all test files, which is never destroyed. */
export async function withCommonDevice(): Promise<GPU> {
  return (await (common ??= shareDevice())).gpu;
}

/** The common device under another name, tampered with until the test has ended: only kernels that it changes compile anew. */
export async function withTamperedDevice(name: string, tamper: (device: GPUDevice) => void): Promise<GPU> {
  const onDevice = (device: GPUDevice) => {
    // The common device compiles in its own way.
    const own: object = Object.assign({}, device);
    onTestFinished(() => void Object.assign(device, own));
    tamper(device);
  };
  return tampered({ name, onDevice }, await withCommonDevice());
}

/** Tampered WebGPU, with one device for all engines of a test file (`worker: false`). It is destroyed after the last test. */
export async function withOneDevice(gpu: GPU): Promise<GPU> {
  const shared = await shareDevice(gpu);
  // Here, at the file's top: asked for in a group of tests, it would go with that group.
  afterAll(shared.destroy);
  return shared.gpu;
}
