// Small choices kept in localStorage. It can be forbidden or full; a choice then lasts as long as the page.

import { parseJson } from "../../index.ts";
import { attempt } from "../attempt.ts";
import type { Read } from "./read-record.ts";

const keyOf = (name: string) => `chorus.${name}`;

export function remembered(name: string): string | null {
  return attempt(() => localStorage.getItem(keyOf(name)), null);
}

export function remember(name: string, value: string): void {
  attempt(() => localStorage.setItem(keyOf(name), value), null);
}

/** Returns what `read` finds in remembered JSON; `otherwise` if there is none, or it can't be read. */
export function rememberedJson<Value, Otherwise>(
  name: string,
  read: Read<Value>,
  otherwise: Otherwise,
): Value | Otherwise {
  return attempt(() => read(parseJson(remembered(name) ?? ""), ""), otherwise);
}

/** Returns whether a notice is new, and remembers it. Later starts may extend it. Null forgets it. */
export function isNewNotice(name: string, notice: string | null): boolean {
  const given = remembered(name) || null;
  const isNew = notice !== null && (given === null || !notice.startsWith(given));
  if (isNew || notice === null) remember(name, notice ?? "");
  return isNew;
}
