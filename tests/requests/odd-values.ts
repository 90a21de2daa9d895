// Values of every kind that a caller can get across the worker's border, where structured clone keeps more than JSON does.

export type Kind = "boolean" | "string" | "integer" | "fraction" | "not finite" | "bigint" | "list" | "object";

export const LONG_TEXT = "long ".repeat(4000);

const cyclicList: unknown[] = [1];
cyclicList.push(cyclicList);
const cyclicObject: Record<string, unknown> = { role: "user" };
cyclicObject["content"] = cyclicObject;
/** Nothing but length. */
const hollowList: unknown[] = [];
hollowList.length = 2 ** 32 - 1;

const VALUES: Readonly<Record<Kind, readonly unknown[]>> = {
  boolean: [true, false],
  string: ["", "1", "true", "null", "NaN", "\0", "\ud800", "\u{1f600}\u200d\u{1f525}", LONG_TEXT],
  integer: [0, -1, 7, 2 ** 53, -(2 ** 60), Number.MAX_VALUE],
  fraction: [0.5, -1.5, 1e-320],
  "not finite": [NaN, Infinity, -Infinity],
  bigint: [0n, 2n ** 70n],
  list: [[], [[]], ["x", 1], cyclicList, hollowList],
  object: [
    {},
    { value: 1 },
    { length: 1, 0: "x" },
    cyclicObject,
    new Date(0),
    new Map([["temperature", 1]]),
    new Set([1]),
    /x/,
    new Uint8Array(3),
    new Error("odd"),
    Object(1),
    Object("text"),
  ],
};

/** Values of all types except null and undefined, which count as left out. */
export function kindOf(value: unknown): Kind {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return "not finite";
    return Number.isInteger(value) ? "integer" : "fraction";
  }
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "string") return "string";
  if (typeof value === "bigint") return "bigint";
  return Array.isArray(value) ? "list" : "object";
}

/** Values of all kinds but these. */
export function othersThan(kinds: readonly Kind[]): unknown[] {
  return Object.values(VALUES)
    .flat()
    .filter((value) => !kinds.includes(kindOf(value)));
}
