import { expect, test } from "vitest";

import { mapStream } from "./map-stream.ts";

test("a mapped stream has what each item becomes, and what comes after the last one", async () => {
  async function* numbers() {
    yield* [1, 2, 3];
  }
  const made: string[] = [];
  const map = (n: number) => Array.from({ length: n - 1 }, (_, i) => `${n}.${i}`);
  for await (const one of mapStream(numbers(), map, () => ["end"])) made.push(one);
  expect(made).toEqual(["2.0", "3.0", "3.1", "end"]);
});

test("leaving a mapped stream ends its source at once, though an item is awaited", async () => {
  const ENDED = { done: true, value: undefined } as const;
  let end: (result: typeof ENDED) => void = () => undefined;
  const source: AsyncIterableIterator<number> = {
    [Symbol.asyncIterator]: () => source,
    next: () => new Promise((resolve) => (end = resolve)),
    async return() {
      end(ENDED);
      return ENDED;
    },
  };
  const stream = mapStream(source, (n) => [n]);
  const next = stream.next();
  await stream.return?.();
  expect(await next).toEqual(ENDED);
});
