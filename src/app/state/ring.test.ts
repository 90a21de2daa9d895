import { expect, it } from "vitest";
import { Ring } from "./ring.ts";

it("keeps the last values, oldest first", () => {
  const ring = new Ring<number>(3);
  const seen = [1, 2, 3, 4, 5].map((value) => {
    ring.push(value);
    return [ring.toArray(), ring.fromEnd(0), ring.fromEnd(2)];
  });
  expect(seen).toEqual([
    [[1], 1, undefined],
    [[1, 2], 2, undefined],
    [[1, 2, 3], 3, 1],
    [[2, 3, 4], 4, 2],
    [[3, 4, 5], 5, 3],
  ]);
  ring.clear();
  ring.push(9);
  expect([ring.toArray(), ring.fromEnd(0), ring.fromEnd(1)]).toEqual([[9], 9, undefined]);
});
