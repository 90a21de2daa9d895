import type { OpenedDevice } from "./device.ts";
import { BufferUsage, MAP_READ } from "./flags.ts";
import { encode, type Dispatch, type StepSize } from "./kernel.ts";
import { copyRanges, type BufferRange } from "./readback.ts";

/** Submits one pass at once, and returns the contents of these ranges after it, in order. Rejects if the device is lost. */
export async function readAfter(
  { device, poller }: Pick<OpenedDevice, "device" | "poller">,
  dispatches: readonly Dispatch[],
  stepSize: StepSize,
  ranges: readonly BufferRange[],
): Promise<ArrayBuffer> {
  const label = "tried kernel";
  const size = ranges.reduce((sum, { bytes }) => sum + bytes, 0);
  // A word more: a lost device may say that its work is done, but gives nothing to read.
  const result = device.createBuffer({ label, size: size + 4, usage: BufferUsage.MAP_READ | BufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder({ label });
  const pass = encoder.beginComputePass({ label });
  for (const dispatch of dispatches) encode(pass, dispatch, stepSize);
  pass.end();
  copyRanges(encoder, ranges, result);
  encoder.clearBuffer(result, size);
  device.queue.submit([encoder.finish()]);
  try {
    await poller.settled(result.mapAsync(MAP_READ));
    return result.getMappedRange(0, size).slice(0);
  } finally {
    result.destroy();
  }
}

/** Hashes of the answers that are known, and of a kernel's. */
export interface Answers {
  readonly known: number;
  readonly given: number;
}

/** Returns a hash of floats that a change of any bit changes. NaN has many bits, and broken weights may give it. */
export function hashOf(bytes: ArrayBuffer): number {
  const words = new Uint32Array(bytes);
  const add = (hash: number, value: number, i: number) =>
    Math.imul(hash ^ (Number.isNaN(value) ? 1 : (words[i] ?? 0)), 0x01000193);
  return new Float32Array(bytes).reduce(add, 0x811c9dc5);
}

/**
 * Returns the same numbers each time, as inputs for trying kernels. Signs and exponents vary, so that another order of
 * additions gives other bits; every 32nd or so is subnormal as a half.
 */
export function numbers(length: number): Float32Array<ArrayBuffer> {
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    const hash = Math.imul(i + 1, 0x9e3779b1) ^ (i << 7);
    const exponent = (hash & 0x1f0) === 0 ? -17 : ((hash >> 9) & 7) - 5;
    values[i] = ((hash >> 8) / 2 ** 23) * 2 ** exponent;
  }
  return values;
}
