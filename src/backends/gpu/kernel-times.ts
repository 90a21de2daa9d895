import type { KernelTime } from "../../protocol/reports.ts";
import type { Arena } from "./arena.ts";
import { BufferUsage } from "./flags.ts";
import { encode, type Dispatch, type StepSize } from "./kernel.ts";
import type { QueuePoller } from "./queue-poller.ts";
import { ReadbackRing } from "./readback.ts";

/** One step of so many is timed, from the first on. */
const EVERY = 8;
/** WebGPU's largest query set: a beginning and an end for each kernel. */
const MOST_QUERIES = 4096;
/** A timestamp has 64 bits. */
const STAMP_BYTES = 8;

/** Steps' kernels, timed by timestamp queries at the borders of passes: so a step that is timed has a pass for each kernel. */
export class KernelTimes {
  readonly #querySet: GPUQuerySet;
  readonly #buffer: GPUBuffer;
  readonly #readback: ReadbackRing;
  #isOn = false;
  #step = 0;
  #isReading = false;

  private constructor(querySet: GPUQuerySet, buffer: GPUBuffer, readback: ReadbackRing) {
    this.#querySet = querySet;
    this.#buffer = buffer;
    this.#readback = readback;
  }

  /** Makes all that timing takes. Returns null if the device has no timestamp queries. */
  static create(device: GPUDevice, arena: Arena, poller: QueuePoller): KernelTimes | null {
    if (!device.features.has("timestamp-query")) return null;
    const bytes = STAMP_BYTES * MOST_QUERIES;
    const querySet = device.createQuerySet({ label: "kernel times", type: "timestamp", count: MOST_QUERIES });
    const buffer = arena.storage("kernel times", bytes, BufferUsage.QUERY_RESOLVE);
    return new KernelTimes(querySet, buffer, new ReadbackRing(arena, poller, { bytes, depth: 1 }));
  }

  turn(isOn: boolean): void {
    this.#isOn = isOn;
    this.#step = 0;
  }

  /** Whether the next step is timed. To be asked once a step. */
  isDue(): boolean {
    return this.#isOn && this.#step++ % EVERY === 0 && !this.#isReading;
  }

  /**
   * Records each dispatch in a pass of its own. Call the returned function after the submit: it resolves to the times. Returns
   * null for more dispatches than there are queries for: then nothing is recorded.
   */
  record(
    encoder: GPUCommandEncoder,
    dispatches: readonly Dispatch[],
    step: StepSize,
  ): (() => Promise<readonly KernelTime[] | null>) | null {
    const numQueries = 2 * dispatches.length;
    if (numQueries > MOST_QUERIES) return null;
    const querySet = this.#querySet;
    for (const [i, dispatch] of dispatches.entries()) {
      const timestampWrites = { querySet, beginningOfPassWriteIndex: 2 * i, endOfPassWriteIndex: 2 * i + 1 };
      const pass = encoder.beginComputePass({ label: dispatch.name, timestampWrites });
      encode(pass, dispatch, step);
      pass.end();
    }
    encoder.resolveQuerySet(querySet, 0, numQueries, this.#buffer, 0);
    const part = { buffer: this.#buffer, offset: 0, bytes: STAMP_BYTES * numQueries };
    const read = this.#readback.record(encoder, [part]);
    this.#isReading = true;
    return async () => {
      try {
        return timesOf(dispatches, await read());
      } finally {
        this.#isReading = false;
      }
    };
  }

  /** Destroys the queries. The arena frees the buffers. */
  destroy(): void {
    this.#querySet.destroy();
  }
}

/** @returns null if the driver set the clock back in between */
function timesOf(dispatches: readonly Dispatch[], words: Uint32Array): KernelTime[] | null {
  const stamps = new BigUint64Array(words.buffer, words.byteOffset, 2 * dispatches.length);
  const first = stamps[0] ?? 0n;
  const msFrom = (from: bigint, to: bigint) => Number(to - from) / 1e6;
  const times = dispatches.map(({ name: operation, pipeline }, i): KernelTime => {
    const [begin = first, end = first] = stamps.subarray(2 * i, 2 * i + 2);
    const [kernel = ""] = pipeline.label.split(" ");
    return { kernel, operation, startMs: msFrom(first, begin), ms: msFrom(begin, end) };
  });
  return times.every(({ startMs, ms }) => startMs >= 0 && ms >= 0) ? times : null;
}

/** Returns the time from the beginning of the first kernel to the end of the last. */
export function spanMs(times: readonly KernelTime[]): number {
  return times.reduce((end, { startMs, ms }) => Math.max(end, startMs + ms), 0);
}
