import { expect, it } from "vitest";
import { askerOf, requestName } from "./request-name.ts";

it("is read back from the id that the reports have", () => {
  expect(askerOf(`chatcmpl-${requestName({ pane: 16, turn: 203 }, "8f")}`)).toEqual({ pane: 16, turn: 203 });
  expect(askerOf("chatcmpl-123")).toBeNull();
});
