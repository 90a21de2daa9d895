import { ChorusError } from "../protocol/errors.ts";
import type { Arena } from "./arena.ts";

/** A ring of buffers through which small results come back, so that steps can be submitted while others are read. */
export class ReadbackRing {
  readonly #free: GPUBuffer[] = [];

  constructor(arena: Arena, bytes: number, depth: number) {
    for (let i = 0; i < depth; i++) this.#free.push(arena.readback(`readback ${i}`, bytes));
  }

  /** Records a copy of the first `bytes` of `source`. After the submit, await the function it returns for the words. */
  record(encoder: GPUCommandEncoder, source: GPUBuffer, bytes: number): () => Promise<Uint32Array> {
    const target = this.#free.pop();
    if (!target) throw new ChorusError("internal_error", "more steps in flight than the readback ring holds");
    encoder.copyBufferToBuffer(source, 0, target, 0, bytes);
    return async () => {
      await target.mapAsync(GPUMapMode.READ, 0, bytes);
      const words = new Uint32Array(target.getMappedRange(0, bytes).slice(0));
      target.unmap();
      this.#free.push(target);
      return words;
    };
  }
}
