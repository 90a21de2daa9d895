/** A line of the caches: what different threads write must not share one. */
const LINE_BYTES = 64;
const PAGE_BYTES = 65_536;
/** Nothing lies at address 0, which stands for "none". */
const FIRST_ADDRESS = 1024;

/** Hands out addresses of a memory that is made afterwards, just as large as it must be. */
export class MemoryMap {
  #end = FIRST_ADDRESS;

  /** Returns the address of `bytes` new bytes, which are zero. */
  take(bytes: number): number {
    const address = this.#end;
    this.#end = Math.ceil((address + bytes) / LINE_BYTES) * LINE_BYTES;
    return address;
  }

  /** Bytes handed out. */
  get bytes(): number {
    return this.#end;
  }

  /** Pages of 64 KiB that the memory needs. */
  get pages(): number {
    // A vector that is loaded at the last value reaches beyond it.
    return Math.ceil((this.#end + LINE_BYTES) / PAGE_BYTES);
  }
}
