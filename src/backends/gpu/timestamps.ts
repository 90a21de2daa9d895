import type { Arena } from "./arena.ts";
import type { ReadbackPart } from "./readback.ts";
import { BufferUsage } from "./flags.ts";

/** Of a pass: when it began and when it ended. */
export const STAMPS_BYTES = 16;
/** WebGPU resolves queries to offsets that are multiples of this. */
const RESOLVE_ALIGNMENT = 256;

/** A pass that is timed: begin it with `descriptor`, record resolve() after it, and read `part` back. */
export interface TimedPass {
  readonly descriptor: GPUComputePassDescriptor;
  readonly resolve: (encoder: GPUCommandEncoder) => void;
  readonly part: ReadbackPart;
}

/**
 * GPU times of compute passes, by timestamp queries. A ring, since one step may be on the GPU while the next is being
 * recorded; each of its places is made beforehand.
 */
export class Timestamps {
  readonly #querySet: GPUQuerySet;
  readonly #passes: readonly TimedPass[];
  #next = 0;

  private constructor(querySet: GPUQuerySet, passes: readonly TimedPass[]) {
    this.#querySet = querySet;
    this.#passes = passes;
  }

  /** Null where the device has no timestamp queries. `depth`: passes that may be in flight at once. */
  static create(device: GPUDevice, arena: Arena, depth: number): Timestamps | null {
    if (!device.features.has("timestamp-query")) return null;
    const querySet = device.createQuerySet({ label: "timestamps", type: "timestamp", count: 2 * depth });
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
    return new Timestamps(querySet, passes);
  }

  nextPass(): TimedPass {
    const pass = this.#passes[this.#next % this.#passes.length];
    if (!pass) throw new Error("a ring of timestamps has at least one place");
    this.#next += 1;
    return pass;
  }

  /** The buffer is the arena's to free. */
  destroy(): void {
    this.#querySet.destroy();
  }
}

/**
 * Milliseconds between the two stamps of a pass, which are 64-bit nanoseconds, low words first. Browsers round them (to
 * 0.1 ms in Chromium). Null where the clock was set back between the two, as drivers may.
 */
export function elapsedMs(stamps: Uint32Array): number | null {
  const [beginLow = 0, beginHigh = 0, endLow = 0, endHigh = 0] = stamps;
  const elapsedNs = (endHigh - beginHigh) * 2 ** 32 + (endLow - beginLow);
  return elapsedNs < 0 ? null : elapsedNs / 1e6;
}
