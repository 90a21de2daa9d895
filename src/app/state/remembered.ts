// Small choices kept in localStorage. It can be forbidden or full; a choice then lasts as long as the page.

import { parseJson } from "../../index.ts";
import { attempt } from "../attempt.ts";
import type { Read } from "./read-record.ts";
import { createStore, type ReadonlyStore } from "./store.ts";

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

/** Returns the remembered one of these values; null if none is. */
export function rememberedOf<Value extends string>(name: string, values: readonly Value[]): Value | null {
  const kept = remembered(name);
  return values.find((value) => value === kept) ?? null;
}

/** A value that a person chooses, and this browser remembers. */
export interface KeptChoice<Value extends string> {
  readonly store: ReadonlyStore<Value>;
  readonly choose: (value: Value) => void;
  /** Chooses the value after this one; after the last the first. */
  readonly next: () => void;
}

/** @param values the first one is the default */
export function keptChoice<Value extends string>(
  name: string,
  values: readonly [Value, ...Value[]],
): KeptChoice<Value> {
  const store = createStore<Value>(() => rememberedOf(name, values) ?? values[0]);
  const choose = (value: Value) => {
    store.setState(value, true);
    remember(name, value);
  };
  return { store, choose, next: () => choose(values[values.indexOf(store.getState()) + 1] ?? values[0]) };
}

/** Returns whether a notice is new, and remembers it. Later starts may extend it. Null forgets it. */
export function isNewNotice(name: string, notice: string | null): boolean {
  const given = remembered(name) || null;
  const isNew = notice !== null && (given === null || !notice.startsWith(given));
  if (isNew || notice === null) remember(name, notice ?? "");
  return isNew;
}
