/** The last `capacity` values. */
export class Ring<T> {
  readonly #capacity: number;
  readonly #values: T[] = [];
  /** Index of the oldest value, which the next one replaces once the ring is full. */
  #next = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#values.length;
  }

  push(value: T): void {
    if (this.#values.length < this.#capacity) this.#values.push(value);
    else this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % this.#capacity;
  }

  /** Returns a value by its distance from the newest, which is 0. */
  fromEnd(index: number): T | undefined {
    if (index >= this.#values.length) return undefined;
    return this.#values[(this.#next - 1 - index + 2 * this.#capacity) % this.#capacity];
  }

  /** Returns the values, oldest first. */
  toArray(): T[] {
    if (this.#values.length < this.#capacity) return [...this.#values];
    return [...this.#values.slice(this.#next), ...this.#values.slice(0, this.#next)];
  }

  clear(): void {
    this.#values.length = 0;
    this.#next = 0;
  }
}
