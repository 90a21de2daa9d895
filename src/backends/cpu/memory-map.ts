/** A cache line. Different threads must not write to the same one. */
const LINE_BYTES = 64;
const PAGE_BYTES = 65_536;
/** Nothing lies at address 0, which stands for "none". */
const FIRST_ADDRESS = 1024;

/** Allocates addresses in a memory that is created afterwards, with exactly the size needed. */
export class MemoryMap {
  #end = FIRST_ADDRESS;

  /** Allocates `bytes` zeroed bytes and returns their address. */
  take(bytes: number): number {
    const address = this.#end;
    this.#end = Math.ceil((address + bytes) / LINE_BYTES) * LINE_BYTES;
    return address;
  }

  get bytes(): number {
    return this.#end;
  }

  /** Pages of 64 KiB that the memory needs. */
  get pages(): number {
    // A vector that is loaded at the last value reaches beyond it.
    return Math.ceil((this.#end + LINE_BYTES) / PAGE_BYTES);
  }
}
