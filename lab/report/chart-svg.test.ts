import { expect, it } from "vitest";

import { ticksUpTo } from "./chart-svg.ts";

it.each([
  [0, [0, 1]],
  [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [7, [0, 2, 4, 6, 8]],
  [10, [0, 2, 4, 6, 8, 10]],
  [75.5, [0, 20, 40, 60, 80]],
  [3120, [0, 1000, 2000, 3000, 4000]],
])("an axis up to %d has ticks at %j", (most, ticks) => {
  expect(ticksUpTo(most)).toEqual(ticks);
});
