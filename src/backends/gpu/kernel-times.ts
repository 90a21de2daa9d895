import type { KernelTime } from "../../protocol/reports.ts";
import { Arena } from "./arena.ts";
import { isTaken } from "./error-scopes.ts";
import { BufferUsage } from "./flags.ts";
import { encode, type Dispatch, type StepSize } from "./kernel.ts";
import type { QueuePoller } from "./queue-poller.ts";
import { ReadbackRing } from "./readback.ts";

/** One of this many steps is timed, beginning with the first. */
const EVERY = 8;
/** WebGPU's largest query set: a beginning and an end for each kernel. */
const MAX_QUERIES = 4096;
/** A timestamp has 64 bits. */
const STAMP_BYTES = 8;

/** The GPU objects that timing needs. */
interface Means {
  readonly querySet: GPUQuerySet;
  readonly buffer: GPUBuffer;
  readonly readback: ReadbackRing;
}

/**
 * Times the kernels of steps by timestamp queries at the borders of passes, so a timed step has a pass for each kernel.
 * Creates its GPU objects when first requested. If the GPU refuses them, no step is timed, and everything else goes on.
 */
export class KernelTimes {
  readonly #device: GPUDevice;
  readonly #arena: Arena;
  readonly #poller: QueuePoller;
  #means: Means | null = null;
  /** Resolves when the objects are made; null while none are being made. */
  #making: Promise<void> | null = null;
  #isOn = false;
  #isDestroyed = false;
  #step = 0;
  #isReading = false;

  /** @param device must have timestamp queries */
  constructor(device: GPUDevice, poller: QueuePoller) {
    this.#device = device;
    this.#arena = new Arena(device);
    this.#poller = poller;
  }

  get bytes(): number {
    return this.#arena.bytes;
  }

  /** Resolves to false if the GPU refuses the objects; the next call tries again. Never rejects. */
  async turn(isOn: boolean): Promise<boolean> {
    this.#isOn = isOn;
    this.#step = 0;
    if (!isOn) return true;
    if (this.#means === null) await (this.#making ??= this.#make());
    return this.#means !== null;
  }

  /** Returns whether the next step is timed. Call it once per step. */
  isDue(): boolean {
    return this.#isOn && this.#means !== null && this.#step++ % EVERY === 0 && !this.#isReading;
  }

  /**
   * Records each dispatch in a pass of its own. Call the returned function after the submit: it resolves to the times. Records
   * nothing and returns null if there are more dispatches than queries.
   */
  record(
    encoder: GPUCommandEncoder,
    forEach: (take: (dispatch: Dispatch) => void) => void,
    step: StepSize,
  ): (() => Promise<readonly KernelTime[] | null>) | null {
    const dispatches: Dispatch[] = [];
    forEach((dispatch) => dispatches.push(dispatch));
    const numQueries = 2 * dispatches.length;
    if (this.#means === null || numQueries > MAX_QUERIES) return null;
    const { querySet, buffer, readback } = this.#means;
    for (const [i, dispatch] of dispatches.entries()) {
      const timestampWrites = { querySet, beginningOfPassWriteIndex: 2 * i, endOfPassWriteIndex: 2 * i + 1 };
      const pass = encoder.beginComputePass({ label: dispatch.name, timestampWrites });
      encode(pass, dispatch, step);
      pass.end();
    }
    encoder.resolveQuerySet(querySet, 0, numQueries, buffer, 0);
    const read = readback.record(encoder, [{ buffer, offset: 0, bytes: STAMP_BYTES * numQueries }]);
    this.#isReading = true;
    return async () => {
      // If this fails, the ring has lost its buffer: no further step is timed.
      const words = await read();
      this.#isReading = false;
      return timesOf(dispatches, words);
    };
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#means = null;
    this.#arena.destroy();
  }

  async #make(): Promise<void> {
    let means: Means | null = null;
    const isMade = await isTaken(this.#device, () => (means = makeMeans(this.#arena, this.#poller)));
    this.#making = null;
    if (isMade && !this.#isDestroyed) this.#means = means;
    else this.#arena.destroy();
  }
}

function makeMeans(arena: Arena, poller: QueuePoller): Means {
  const bytes = STAMP_BYTES * MAX_QUERIES;
  const querySet = arena.timestamps("kernel times", MAX_QUERIES);
  const buffer = arena.storage("kernel times", bytes, BufferUsage.QUERY_RESOLVE);
  return { querySet, buffer, readback: new ReadbackRing(arena, poller, { bytes, depth: 1 }) };
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
