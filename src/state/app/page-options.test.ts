import { expect, it } from "vitest";
import { readPageOptions } from "./page-options.ts";

it("leaves open what the address does not ask for", () => {
  expect(readPageOptions("")).toEqual({ model: null, sampling: {} });
});

it("takes a model and sampling fields from the address", () => {
  expect(readPageOptions("?model=models/other/&temperature=0&max_tokens=32")).toEqual({
    model: "models/other/",
    sampling: { temperature: 0, max_tokens: 32 },
  });
});
