import { ChorusError } from "../../protocol/errors.ts";
import type { Arena } from "./arena.ts";
import { MAP_READ } from "./flags.ts";
import type { QueuePoller } from "./queue-poller.ts";

/** A range of a buffer to read. */
export interface ReadbackPart {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly bytes: number;
}

/** Reads small results back through a ring of buffers, so that new steps can be submitted meanwhile. */
export class ReadbackRing {
  readonly #poller: QueuePoller;
  readonly #free: GPUBuffer[] = [];

  constructor(arena: Arena, poller: QueuePoller, { bytes, depth }: { bytes: number; depth: number }) {
    this.#poller = poller;
    for (let i = 0; i < depth; i++) this.#free.push(arena.readback(`readback ${i}`, bytes));
  }

  /** Records copies of the parts. Call the returned function after the submit: it resolves to all their words. */
  record(encoder: GPUCommandEncoder, parts: readonly ReadbackPart[]): () => Promise<Uint32Array> {
    const target = this.#free.pop();
    if (!target) throw new ChorusError("internal_error", "more steps in flight than the readback ring holds");
    let total = 0;
    for (const { buffer, offset, bytes } of parts) {
      encoder.copyBufferToBuffer(buffer, offset, target, total, bytes);
      total += bytes;
    }
    return async () => {
      await this.#poller.settled(target.mapAsync(MAP_READ, 0, total));
      const words = new Uint32Array(target.getMappedRange(0, total).slice(0));
      target.unmap();
      this.#free.push(target);
      return words;
    };
  }
}
