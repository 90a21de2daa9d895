import { expect, it } from "vitest";
import { readPageOptions } from "./page-options.ts";

it("opens the embedded model with the model's own sampling", () => {
  expect(readPageOptions("")).toEqual({ model: "models/chorus-chat/", sampling: {} });
});

it("takes a model and sampling fields from the address", () => {
  expect(readPageOptions("?model=models/other/&temperature=0&max_tokens=32")).toEqual({
    model: "models/other/",
    sampling: { temperature: 0, max_tokens: 32 },
  });
});
