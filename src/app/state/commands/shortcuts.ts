// Keys as commands name them: modifiers joined by "+", then the key as KeyboardEvent has it: "Mod+K", "Alt+ArrowDown",
// "?".

import type { Command } from "./commands.ts";

export type KeyPress = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

export interface KeyContext {
  readonly isMac: boolean;
  /** Whether the focus is in a text field: a key without a modifier is text there. */
  readonly isTyping: boolean;
  /** Whether single-character shortcuts work; people may turn them off (WCAG 2.1.4). */
  readonly areSingleKeysOn: boolean;
}

const MODIFIERS = ["Mod", "Alt", "Shift"];

export function commandFor(
  commands: readonly Command[],
  press: KeyPress,
  { isMac, isTyping, areSingleKeysOn }: KeyContext,
): Command | undefined {
  return commands.find(({ keys }) => {
    if (keys === undefined || !matches(keys, press, isMac)) return false;
    return keys.length > 1 || (areSingleKeysOn && !isTyping);
  });
}

function matches(keys: string, press: KeyPress, isMac: boolean): boolean {
  const parts = keys.split("+");
  const key = parts.at(-1) ?? "";
  const isMod = isMac ? press.metaKey : press.ctrlKey;
  const isOtherMod = isMac ? press.ctrlKey : press.metaKey;
  // Which characters need Shift depends on the keyboard's layout, so Shift is compared for letters and named keys only.
  const isCharacter = /^[^A-Za-z]$/.test(key);
  // On a Mac, Alt changes a letter's `key` but never its `code`.
  return (
    isMod === parts.includes("Mod") &&
    !isOtherMod &&
    press.altKey === parts.includes("Alt") &&
    (isCharacter || press.shiftKey === parts.includes("Shift")) &&
    (press.key.toLowerCase() === key.toLowerCase() || (press.altKey && press.code === `Key${key.toUpperCase()}`))
  );
}

const NAMES: Record<string, string> = {
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
};
const MAC_NAMES: Record<string, string> = { Mod: "⌘", Alt: "⌥", Shift: "⇧" };

/** Returns the labels of the keys: ["Ctrl", "K"], or ["⌘", "K"] on a Mac. */
export function keyLabels(keys: string, isMac: boolean): readonly string[] {
  return keys.split("+").map((part) => {
    if (MODIFIERS.includes(part)) return isMac ? (MAC_NAMES[part] ?? part) : part === "Mod" ? "Ctrl" : part;
    return NAMES[part] ?? part;
  });
}
