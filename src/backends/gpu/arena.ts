import { ChorusError } from "../../protocol/errors.ts";
import { BufferUsage } from "./flags.ts";

/** Owns every buffer of one engine. They are created before the first step and freed together. */
export class Arena {
  readonly #device: GPUDevice;
  readonly #buffers: GPUBuffer[] = [];
  bytes = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Creates a zeroed storage buffer. Throws out_of_memory if the adapter's limits forbid its size. */
  storage(label: string, bytes: number, extraUsage: GPUBufferUsageFlags = 0): GPUBuffer {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#device.limits;
    const limit = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    if (bytes > limit) {
      throw new ChorusError(
        "out_of_memory",
        `"${label}" takes ${bytes} bytes, but this adapter binds at most ${limit}. Choose a smaller model, kvCacheBytes, ` +
          "maxNumSeqs or maxNumBatchedTokens, or dtype q8 or q4.",
      );
    }
    return this.#create(label, bytes, BufferUsage.STORAGE | BufferUsage.COPY_DST | BufferUsage.COPY_SRC | extraUsage);
  }

  /** Creates a storage buffer with contents. */
  upload(label: string, data: ArrayBufferView<ArrayBuffer>): GPUBuffer {
    const buffer = this.storage(label, data.byteLength);
    this.#device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  }

  readback(label: string, bytes: number): GPUBuffer {
    return this.#create(label, bytes, BufferUsage.MAP_READ | BufferUsage.COPY_DST);
  }

  destroy(): void {
    for (const buffer of this.#buffers) buffer.destroy();
    this.#buffers.length = 0;
    this.bytes = 0;
  }

  #create(label: string, bytes: number, usage: GPUBufferUsageFlags): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const buffer = this.#device.createBuffer({ label, size, usage });
    this.#buffers.push(buffer);
    this.bytes += size;
    return buffer;
  }
}
