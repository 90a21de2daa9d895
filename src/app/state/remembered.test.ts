import { afterEach, expect, it, vi } from "vitest";
import { isNewNotice } from "./remembered.ts";

afterEach(() => void vi.unstubAllGlobals());

it("gives a notice once, whatever later starts add to it, and again after all was well", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  });
  const notices = ["The device was lost.", "The device was lost. It is not tried again.", "It gave wrong results."];
  expect(notices.map((notice) => isNewNotice("gpu", notice))).toEqual([true, false, true]);
  expect(isNewNotice("gpu", null)).toBe(false);
  expect(isNewNotice("gpu", "It gave wrong results.")).toBe(true);
});

it("gives each notice where nothing can be remembered", () => {
  expect([1, 2].map(() => isNewNotice("gpu", "The device was lost."))).toEqual([true, true]);
});
