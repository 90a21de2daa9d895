import type { OpenedDevice } from "./device.ts";
import { BufferUsage, MAP_READ } from "./flags.ts";

export interface BufferRange {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly bytes: number;
}

/** Submits one pass at once, and returns the contents of these ranges after it, in order. */
export async function readAfter(
  { device, poller }: Pick<OpenedDevice, "device" | "poller">,
  encode: (pass: GPUComputePassEncoder) => void,
  ranges: readonly BufferRange[],
): Promise<ArrayBuffer> {
  const label = "tried kernel";
  const size = ranges.reduce((sum, { bytes }) => sum + bytes, 0);
  const result = device.createBuffer({ label, size, usage: BufferUsage.MAP_READ | BufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder({ label });
  const pass = encoder.beginComputePass({ label });
  encode(pass);
  pass.end();
  let at = 0;
  for (const { buffer, offset, bytes } of ranges) {
    encoder.copyBufferToBuffer(buffer, offset, result, at, bytes);
    at += bytes;
  }
  device.queue.submit([encoder.finish()]);
  try {
    await poller.settled(result.mapAsync(MAP_READ));
    return result.getMappedRange().slice(0);
  } finally {
    result.destroy();
  }
}

/** Returns the same numbers each time, in -1 .. 1, as inputs for trying kernels. */
export function numbers(length: number): Float32Array<ArrayBuffer> {
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) values[i] = (Math.imul(i + 1, 0x9e3779b1) >> 8) / 2 ** 23;
  return values;
}
