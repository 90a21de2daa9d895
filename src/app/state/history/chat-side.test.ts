import { expect, it } from "vitest";
import { ChatSide } from "./chat-side.ts";

it("has its search take the focus once, where somebody has asked for the list, and not when it only comes into view again", () => {
  const side = new ChatSide();
  expect(side.takeCall()).toBe(false);
  side.toggle();
  expect([side.store.getState(), side.takeCall()]).toEqual(["hidden", false]);
  side.toggle();
  expect([side.store.getState(), side.takeCall(), side.takeCall()]).toEqual(["shown", true, false]);
});
