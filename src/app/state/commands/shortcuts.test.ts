import { describe, expect, it } from "vitest";
import type { Command } from "./commands.ts";
import { commandFor, keyLabels, type KeyContext, type KeyPress } from "./shortcuts.ts";

const command = (keys: string): Command => ({ id: keys, title: keys, group: "Help", keys, run: () => {} });
const commands = ["Mod+K", "Alt+N", "Alt+ArrowDown", "?", "Escape", "Mod+."].map(command);

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: "",
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});
const found = (pressed: KeyPress, context: Partial<KeyContext> = {}) =>
  commandFor(commands, pressed, { isMac: false, isTyping: false, areSingleKeysOn: true, ...context })?.keys;

describe("commandFor", () => {
  it("takes Mod for Ctrl, and on a Mac for ⌘", () => {
    expect(found(press("k", { ctrlKey: true }))).toBe("Mod+K");
    expect(found(press("k", { metaKey: true }))).toBeUndefined();
    expect(found(press("k", { metaKey: true }), { isMac: true })).toBe("Mod+K");
    expect(found(press("k", { ctrlKey: true }), { isMac: true })).toBeUndefined();
    expect(found(press("k"))).toBeUndefined();
  });

  it("knows a letter by its place where Alt writes another, as on a Mac", () => {
    expect(found(press("˜", { code: "KeyN", altKey: true }), { isMac: true })).toBe("Alt+N");
    expect(found(press("n", { code: "KeyN" }))).toBeUndefined();
  });

  it("leaves other combinations to the browser", () => {
    expect(found(press("K", { ctrlKey: true, shiftKey: true }))).toBeUndefined();
    expect(found(press("k", { ctrlKey: true, altKey: true }))).toBeUndefined();
  });

  it("takes a character however the keyboard makes it", () => {
    expect(found(press("?", { shiftKey: true }))).toBe("?");
    expect(found(press("?"))).toBe("?");
    expect(found(press(".", { ctrlKey: true }))).toBe("Mod+.");
  });

  it("leaves a single character to who is typing, and to who turned such keys off", () => {
    expect(found(press("?"), { isTyping: true })).toBeUndefined();
    expect(found(press("?"), { areSingleKeysOn: false })).toBeUndefined();
    expect(found(press("Escape"), { isTyping: true, areSingleKeysOn: false })).toBe("Escape");
    expect(found(press("k", { ctrlKey: true }), { isTyping: true })).toBe("Mod+K");
  });
});

it("labels keys as keyboards do", () => {
  expect(keyLabels("Mod+K", false)).toEqual(["Ctrl", "K"]);
  expect(keyLabels("Mod+K", true)).toEqual(["⌘", "K"]);
  expect(keyLabels("Alt+ArrowDown", true)).toEqual(["⌥", "↓"]);
  expect(keyLabels("Escape", false)).toEqual(["Esc"]);
});
