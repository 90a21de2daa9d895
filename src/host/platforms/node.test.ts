import { expect, it } from "vitest";

import { nodePlatform } from "./node.ts";

it("remembers what was measured for the next engine of the process", async () => {
  await nodePlatform({ gpu: undefined }).tuning.save("an adapter", ["a kernel"]);
  expect(await nodePlatform({ gpu: undefined }).tuning.load("an adapter")).toEqual(["a kernel"]);
});
