// The origin private file system in memory, as far as the store uses it, for tests in Node.

/** A disk: how much it takes, and what a test may do to it. */
export interface MemoryDisk {
  freeBytes: number;
  /** Called after each write, with the bytes written since the disk was made. */
  onWrite?: (writtenBytes: number) => void;
  writtenBytes?: number;
}

/** From this size on a file is taken for weights, and gets room for as much as tests download. */
const LARGE_BYTES = 2 ** 20;
const WEIGHTS_BYTES = 24 * 2 ** 20;

class MemoryFile {
  readonly kind = "file";
  bytes = new Uint8Array();
  isOpen = false;
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  getFile(): Promise<File> {
    return Promise.resolve(new File([this.bytes], "file"));
  }

  createSyncAccessHandle() {
    if (this.isOpen) return Promise.reject(new DOMException("open already", "NoModificationAllowedError"));
    this.isOpen = true;
    const resize = (size: number) => {
      const grown = size - this.bytes.length;
      if (grown > this.#disk.freeBytes) throw new DOMException("the disk is full", "QuotaExceededError");
      this.#disk.freeBytes -= grown;
      // More than needed at a time, since files grow by many small writes: weights are rarely copied.
      const room = new Uint8Array(this.bytes.buffer);
      if (size > room.length) {
        const larger = new Uint8Array(Math.max(2 * size, size > LARGE_BYTES ? WEIGHTS_BYTES : 0));
        larger.set(this.bytes);
        this.bytes = larger.subarray(0, size);
      } else {
        room.fill(0, this.bytes.length, size);
        this.bytes = room.subarray(0, size);
      }
    };
    return Promise.resolve({
      read: (into: Uint8Array, { at }: { at: number }) => {
        const part = this.bytes.subarray(at, at + into.length);
        into.set(part);
        return part.length;
      },
      write: (bytes: Uint8Array, { at }: { at: number }) => {
        if (at + bytes.length > this.bytes.length) resize(at + bytes.length);
        this.bytes.set(bytes, at);
        this.#disk.writtenBytes = (this.#disk.writtenBytes ?? 0) + bytes.length;
        this.#disk.onWrite?.(this.#disk.writtenBytes);
        return bytes.length;
      },
      truncate: resize,
      getSize: () => this.bytes.length,
      flush: () => undefined,
      close: () => {
        this.isOpen = false;
      },
    });
  }
}

class MemoryFolder {
  readonly kind = "directory";
  readonly entries = new Map<string, MemoryFile | MemoryFolder>();
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  getFileHandle(name: string, { create = false } = {}): Promise<unknown> {
    return this.#get(name, create, () => new MemoryFile(this.#disk));
  }

  getDirectoryHandle(name: string, { create = false } = {}): Promise<unknown> {
    return this.#get(name, create, () => new MemoryFolder(this.#disk));
  }

  removeEntry(name: string): Promise<void> {
    const entry = this.entries.get(name);
    if (!entry) return Promise.reject(new DOMException(name, "NotFoundError"));
    if (entry instanceof MemoryFile) this.#disk.freeBytes += entry.bytes.length;
    this.entries.delete(name);
    return Promise.resolve();
  }

  async *keys(): AsyncGenerator<string> {
    yield* this.entries.keys();
  }

  async *values(): AsyncGenerator<MemoryFile | MemoryFolder> {
    yield* this.entries.values();
  }

  #get(name: string, create: boolean, make: () => MemoryFile | MemoryFolder): Promise<unknown> {
    const entry = this.entries.get(name) ?? (create ? make() : undefined);
    if (!entry) return Promise.reject(new DOMException(name, "NotFoundError"));
    this.entries.set(name, entry);
    return Promise.resolve(entry);
  }
}

export function memoryFolder(disk: MemoryDisk = { freeBytes: Infinity }): FileSystemDirectoryHandle {
  return new MemoryFolder(disk) as unknown as FileSystemDirectoryHandle;
}
