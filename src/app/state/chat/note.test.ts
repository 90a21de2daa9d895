import { expect, it } from "vitest";
import { ChorusError } from "../../../protocol/errors.ts";
import { titleOf } from "./note.ts";

it("a wrong name of a model is not called a wrong question", () => {
  const title = (param: string) => titleOf(new ChorusError("invalid_value", "", param));
  expect(title("model")).toBe("This is no model's address");
  expect(title("revision")).toBe("This is no revision");
  expect(title("temperature")).toBe("This can't be asked");
  expect(titleOf(new ChorusError("model_not_found", "", "model"))).toBe("The model was not found");
});
