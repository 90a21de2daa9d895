/**
 * Returns a stream of what each item becomes. Leaving it ends the source at once, also while an item is awaited, which a
 * generator would not.
 * @param end returns what comes after the last item
 */
export function mapStream<Item, Made>(
  source: AsyncIterableIterator<Item>,
  map: (item: Item) => readonly Made[],
  end: () => readonly Made[] = () => [],
): AsyncIterableIterator<Made> {
  const made: Made[] = [];
  let hasEnded = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      while (made.length === 0 && !hasEnded) {
        const { done, value } = await source.next();
        hasEnded = done === true;
        made.push(...(done ? end() : map(value)));
      }
      const [value] = made.splice(0, 1);
      return value === undefined ? { done: true, value } : { done: false, value };
    },
    async return() {
      hasEnded = true;
      made.length = 0;
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}
