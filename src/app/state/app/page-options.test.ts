import { expect, it } from "vitest";
import { readPageOptions } from "./page-options.ts";

it("leaves open what the address does not ask for", () => {
  expect(readPageOptions("")).toEqual({ backend: null, model: null, addressSettings: {} });
});

it("takes a model, a backend and sampling fields from the address", () => {
  expect(readPageOptions("?model=models/other/&backend=cpu&temperature=0&max_tokens=32")).toEqual({
    backend: "cpu",
    model: "models/other/",
    addressSettings: { temperature: 0, max_tokens: 32 },
  });
});
