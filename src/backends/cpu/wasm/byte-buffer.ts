/** Bytes that grow as they are written, with WebAssembly's encodings of numbers. */
export class ByteBuffer {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  bytes(values: ArrayLike<number>): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** Writes another buffer, preceded by its length. */
  sized(other: ByteBuffer): void {
    this.unsigned(other.length);
    this.bytes(other.#written());
  }

  /** Writes the LEB128 of an unsigned 32-bit integer. */
  unsigned(value: number): void {
    let rest = value >>> 0;
    while (rest >= 0x80) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  /** Writes the LEB128 of a signed 32-bit integer. */
  signed(value: number): void {
    let rest = value | 0;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      const isLast = rest === (low & 0x40 ? -1 : 0);
      this.byte(isLast ? low : low | 0x80);
      if (isLast) return;
    }
  }

  f32(value: number): void {
    this.#reserve(4);
    this.#view.setFloat32(this.#length, value, true);
    this.#length += 4;
  }

  i32(value: number): void {
    this.#reserve(4);
    this.#view.setInt32(this.#length, value, true);
    this.#length += 4;
  }

  text(value: string): void {
    const utf8 = new TextEncoder().encode(value);
    this.unsigned(utf8.length);
    this.bytes(utf8);
  }

  /** Returns a copy of the written bytes. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#written().slice();
  }

  #written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#written());
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}
