/** Each yield waits for more text. */
export type Reading<T = void> = Generator<void, T, void>;

export class GrowingText {
  /** What was not understood yet. */
  held = "";
  /** Whether nothing more comes. */
  isWhole = false;

  take(length: number): string {
    const taken = this.held.slice(0, length);
    this.held = this.held.slice(length);
    return taken;
  }

  /** Takes a text up to another one, and that too. */
  *until(end: string): Reading<string> {
    while (!this.held.includes(end)) yield;
    const text = this.take(this.held.indexOf(end));
    this.take(end.length);
    return text;
  }

  /** Takes a text that may come next. Returns whether it did. */
  *takes(next: string): Reading<boolean> {
    while (this.held.length < next.length && next.startsWith(this.held)) yield;
    const isNext = this.held.startsWith(next);
    if (isNext) this.take(next.length);
    return isNext;
  }
}
