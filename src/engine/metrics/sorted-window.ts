/** The last `size` values in ascending order. A value takes two moves within one array, where sorting takes thousands. */
export class SortedWindow {
  readonly #sorted: Float64Array;
  /** The values as they came, in a ring. */
  readonly #ring: Float64Array;
  #numSeen = 0;

  constructor(size: number) {
    this.#sorted = new Float64Array(size);
    this.#ring = new Float64Array(size);
  }

  get length(): number {
    return Math.min(this.#numSeen, this.#ring.length);
  }

  push(value: number): void {
    const sorted = this.#sorted;
    const place = this.#numSeen % this.#ring.length;
    let length = this.length;
    if (length === this.#ring.length) {
      const gone = this.#placeOf(this.#ring[place] ?? 0, length);
      sorted.copyWithin(gone, gone + 1, length);
      length -= 1;
    }
    const at = this.#placeOf(value, length);
    sorted.copyWithin(at + 1, at, length);
    sorted[at] = value;
    this.#ring[place] = value;
    this.#numSeen += 1;
  }

  /** Returns the value at this place of the order; null if there are too few values. */
  at(index: number): number | null {
    return index < this.length ? (this.#sorted[index] ?? null) : null;
  }

  /** Returns the first of `length` places whose value is not less. */
  #placeOf(value: number, length: number): number {
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
