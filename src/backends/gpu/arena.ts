import { byteSize } from "../../protocol/byte-size.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { BufferUsage } from "./flags.ts";

export type BufferLimits = Pick<GPUSupportedLimits, "maxBufferSize" | "maxStorageBufferBindingSize">;

/** Creates a buffer. Without memory some browsers throw, others notify an error scope. Throws out_of_memory either way. */
export function createBuffer(device: GPUDevice, descriptor: GPUBufferDescriptor): GPUBuffer {
  try {
    return device.createBuffer(descriptor);
  } catch (cause) {
    const message = `The GPU has no memory for "${descriptor.label}", which takes ${byteSize(descriptor.size)}.`;
    throw new ChorusError("out_of_memory", message, null, { cause });
  }
}

/** Returns the most bytes of a buffer that kernels can read. WebGPU does not report the total memory. */
export function largestBuffer({ limits }: { readonly limits: BufferLimits }): number {
  return Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
}

/** Owns buffers and queries that are freed together, for example all that an engine creates before its first step. */
export class Arena {
  readonly #device: GPUDevice;
  readonly #owned: (GPUBuffer | GPUQuerySet)[] = [];
  bytes = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Creates a zeroed storage buffer. Throws out_of_memory if the adapter's limits forbid its size. */
  storage(label: string, bytes: number, extraUsage: GPUBufferUsageFlags = 0): GPUBuffer {
    const limit = largestBuffer(this.#device);
    if (bytes > limit) {
      throw new ChorusError(
        "out_of_memory",
        `"${label}" takes ${byteSize(bytes)}, but this adapter binds at most ${byteSize(limit)}. Choose a smaller model, kvCacheBytes, ` +
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

  uniform(label: string, data: ArrayBufferView<ArrayBuffer>): GPUBuffer {
    const buffer = this.#create(label, data.byteLength, BufferUsage.UNIFORM | BufferUsage.COPY_DST);
    this.#device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  }

  readback(label: string, bytes: number): GPUBuffer {
    return this.#create(label, bytes, BufferUsage.MAP_READ | BufferUsage.COPY_DST);
  }

  /** Creates timestamp queries. The device must have the feature. */
  timestamps(label: string, count: number): GPUQuerySet {
    const querySet = this.#device.createQuerySet({ label, type: "timestamp", count });
    this.#owned.push(querySet);
    return querySet;
  }

  destroy(): void {
    for (const one of this.#owned) one.destroy();
    this.#owned.length = 0;
    this.bytes = 0;
  }

  #create(label: string, bytes: number, usage: GPUBufferUsageFlags): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const buffer = createBuffer(this.#device, { label, size, usage });
    this.#owned.push(buffer);
    this.bytes += size;
    return buffer;
  }
}
