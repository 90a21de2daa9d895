import { beforeEach, expect, it, vi } from "vitest";
import { SavedPrompts } from "./saved-prompts.ts";

const kept = new Map<string, string>();
beforeEach(() => {
  kept.clear();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});
const list = () => new SavedPrompts().store.getState();

it("keeps prompts, the newest first, each once", () => {
  const prompts = new SavedPrompts();
  for (const text of ["One?", "Two?", "  ", " One? "]) prompts.add(text);
  expect(list()).toEqual(["One?", "Two?"]);
  prompts.remove("One?");
  expect(list()).toEqual(["Two?"]);
  for (let count = 0; count < 120; count++) prompts.add(`${count}`);
  expect(list()).toHaveLength(100);
  expect(list()[0]).toBe("119");
});

it("keeps what another tab has saved meanwhile", () => {
  const [one, other] = [new SavedPrompts(), new SavedPrompts()];
  one.add("One?");
  other.add("Two?");
  one.remove("One?");
  expect(one.store.getState()).toEqual(["Two?"]);
  expect(list()).toEqual(["Two?"]);
});

it.each(["", "{", "7", '{"a":1}', '[1, null, "Three?"]'])("takes what it can read of %j", (text) => {
  kept.set("chorus.prompts", text);
  expect(list()).toEqual(text.includes("Three?") ? ["Three?"] : []);
});
