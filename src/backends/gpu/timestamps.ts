import type { Arena } from "./arena.ts";
import type { BufferRange } from "./readback.ts";
import { BufferUsage } from "./flags.ts";

/** Bytes of a pass's two timestamps: its begin and its end. */
export const STAMPS_BYTES = 16;
/** WebGPU's alignment of the offset that queries are resolved to. */
const RESOLVE_ALIGNMENT = 256;

/** A timed pass: begin it with `descriptor`, record resolve() after it, and read `part` back. */
interface TimedPass {
  readonly descriptor: GPUComputePassDescriptor;
  readonly resolve: (encoder: GPUCommandEncoder) => void;
  readonly part: BufferRange;
}

/**
 * Measures compute passes by timestamp queries. Keeps a ring of queries, created beforehand, since one step may run while the
 * next is recorded.
 */
export class Timestamps {
  readonly #passes: readonly TimedPass[];
  #next = 0;

  private constructor(passes: readonly TimedPass[]) {
    this.#passes = passes;
  }

  /** Returns null if the device has no timestamp queries. `depth` is the number of passes in flight at once. */
  static create(device: GPUDevice, arena: Arena, depth: number): Timestamps | null {
    if (!device.features.has("timestamp-query")) return null;
    const querySet = arena.timestamps("timestamps", 2 * depth);
    const buffer = arena.storage("timestamps", RESOLVE_ALIGNMENT * depth, BufferUsage.QUERY_RESOLVE);
    const passes = Array.from({ length: depth }, (_, i): TimedPass => {
      const [begin, end, offset] = [2 * i, 2 * i + 1, RESOLVE_ALIGNMENT * i];
      const timestampWrites = { querySet, beginningOfPassWriteIndex: begin, endOfPassWriteIndex: end };
      return {
        descriptor: { label: "step", timestampWrites },
        resolve: (encoder) => encoder.resolveQuerySet(querySet, begin, 2, buffer, offset),
        part: { buffer, offset, bytes: STAMPS_BYTES },
      };
    });
    return new Timestamps(passes);
  }

  nextPass(): TimedPass {
    const pass = this.#passes[this.#next % this.#passes.length];
    if (!pass) throw new Error("a ring of timestamps has at least one place");
    this.#next += 1;
    return pass;
  }
}

/**
 * Returns the milliseconds between a pass's two timestamps, which are 64-bit nanoseconds, low word first. Browsers round
 * them (Chromium to 0.1 ms). Returns null if the driver set the clock back in between.
 */
export function elapsedMs(stamps: Uint32Array): number | null {
  const [beginLow = 0, beginHigh = 0, endLow = 0, endHigh = 0] = stamps;
  const elapsedNs = (endHigh - beginHigh) * 2 ** 32 + (endLow - beginLow);
  return elapsedNs < 0 ? null : elapsedNs / 1e6;
}
