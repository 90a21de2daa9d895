import { expect, it } from "vitest";

import { readRoute } from "./router.ts";

it.each([
  ["", "", {}],
  ["#/", "", {}],
  ["#/bench", "bench", {}],
  ["#/bench?quick&model=small", "bench", { quick: "", model: "small" }],
  ["#bench", "bench", {}],
])("%j is page %j", (hash, page, params) => {
  const route = readRoute(hash);
  expect(route.page).toBe(page);
  expect(Object.fromEntries(route.params)).toEqual(params);
});
