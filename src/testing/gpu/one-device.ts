import { afterAll } from "vitest";

import { shareDevice } from "./shared-device.ts";

/** WebGPU with one device for all engines of a test file (`worker: false`). It is destroyed after the last test. */
export async function withOneDevice(gpu?: GPU): Promise<GPU> {
  const shared = await shareDevice(gpu);
  // Here, at the file's top: asked for in a group of tests, it would go with that group.
  afterAll(shared.destroy);
  return shared.gpu;
}
