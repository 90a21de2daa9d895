import { ChorusError } from "../../protocol/errors.ts";
import type { Arena } from "./arena.ts";
import { MAP_READ } from "./flags.ts";

/** A stretch of a buffer that is to be read. */
export interface ReadbackPart {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly bytes: number;
}

/** A ring of buffers through which small results come back, so that steps can be submitted while others are read. */
export class ReadbackRing {
  readonly #free: GPUBuffer[] = [];

  constructor(arena: Arena, bytes: number, depth: number) {
    for (let i = 0; i < depth; i++) this.#free.push(arena.readback(`readback ${i}`, bytes));
  }

  /** Records copies of the parts. After the submit, await the function it returns for their words, one after the other. */
  record(encoder: GPUCommandEncoder, parts: readonly ReadbackPart[]): () => Promise<Uint32Array> {
    const target = this.#free.pop();
    if (!target) throw new ChorusError("internal_error", "more steps in flight than the readback ring holds");
    let total = 0;
    for (const { buffer, offset, bytes } of parts) {
      encoder.copyBufferToBuffer(buffer, offset, target, total, bytes);
      total += bytes;
    }
    return async () => {
      await target.mapAsync(MAP_READ, 0, total);
      const words = new Uint32Array(target.getMappedRange(0, total).slice(0));
      target.unmap();
      this.#free.push(target);
      return words;
    };
  }
}
