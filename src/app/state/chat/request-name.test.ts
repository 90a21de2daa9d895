import { expect, it } from "vitest";
import { paneTurnOf, requestName } from "./request-name.ts";

it("is read back from the id that the reports have", () => {
  expect(paneTurnOf(`chatcmpl-${requestName({ pane: 16, turn: 203 }, "8f")}`)).toEqual({ pane: 16, turn: 203 });
  expect(paneTurnOf("chatcmpl-123")).toBeNull();
});
