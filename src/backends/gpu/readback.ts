import { ChorusError } from "../../protocol/errors.ts";
import type { Arena } from "./arena.ts";
import { MAP_READ } from "./flags.ts";
import type { QueuePoller } from "./queue-poller.ts";

export interface BufferRange {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly bytes: number;
}

/** A buffer of the ring, and the array for its words, which is reused to avoid garbage. */
interface Target {
  readonly buffer: GPUBuffer;
  readonly words: Uint32Array;
}

/** Reads small results back through a ring of buffers, so that new steps can be submitted meanwhile. */
export class ReadbackRing {
  readonly #poller: QueuePoller;
  readonly #free: Target[] = [];

  constructor(arena: Arena, poller: QueuePoller, { bytes, depth }: { bytes: number; depth: number }) {
    this.#poller = poller;
    for (let i = 0; i < depth; i++) {
      this.#free.push({ buffer: arena.readback(`readback ${i}`, bytes), words: new Uint32Array(bytes / 4) });
    }
  }

  /**
   * Records copies of the parts. Call the returned function after the submit: it resolves to all their words, which are
   * valid until the next submit.
   */
  record(encoder: GPUCommandEncoder, parts: readonly BufferRange[]): () => Promise<Uint32Array> {
    const target = this.#free.pop();
    if (!target) throw new ChorusError("internal_error", "more steps in flight than the readback ring holds");
    const total = copyRanges(encoder, parts, target.buffer);
    return () => this.#read(target, total);
  }

  async #read(target: Target, bytes: number): Promise<Uint32Array> {
    const { buffer, words } = target;
    await this.#poller.settled(buffer.mapAsync(MAP_READ, 0, bytes));
    words.set(new Uint32Array(buffer.getMappedRange(0, bytes)));
    buffer.unmap();
    this.#free.push(target);
    return words.subarray(0, bytes / words.BYTES_PER_ELEMENT);
  }
}

/** Records copies of the ranges, in order, to a buffer. Returns their bytes. */
export function copyRanges(encoder: GPUCommandEncoder, ranges: readonly BufferRange[], to: GPUBuffer): number {
  let total = 0;
  for (const { buffer, offset, bytes } of ranges) {
    encoder.copyBufferToBuffer(buffer, offset, to, total, bytes);
    total += bytes;
  }
  return total;
}
