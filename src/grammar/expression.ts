import type { CharSet } from "./char-set.ts";

/** Describes a text or a part of a text. */
export type Expression =
  | { readonly kind: "text"; readonly text: string }
  /** One character of a set. */
  | { readonly kind: "character"; readonly set: CharSet }
  | { readonly kind: "sequence"; readonly parts: readonly Expression[] }
  /** One of these options; without options, no text matches. */
  | { readonly kind: "choice"; readonly options: readonly Expression[] }
  | { readonly kind: "repeat"; readonly of: Expression; readonly min: number; readonly max: number }
  | { readonly kind: "rule"; readonly name: string };

export const text = (value: string): Expression => ({ kind: "text", text: value });
export const character = (set: CharSet): Expression => ({ kind: "character", set });
export const sequence = (...parts: readonly Expression[]): Expression => ({ kind: "sequence", parts });
export const choice = (...options: readonly Expression[]): Expression => ({ kind: "choice", options });
export const rule = (name: string): Expression => ({ kind: "rule", name });
/** @param max may be Infinity */
export const repeat = (of: Expression, min: number, max: number): Expression => ({ kind: "repeat", of, min, max });
export const optional = (of: Expression): Expression => repeat(of, 0, 1);

export const NOTHING = text("");
/** Matches no text. */
export const IMPOSSIBLE = choice();

/** A grammar's rules by name; the whole text is "root". */
export type Rules = ReadonlyMap<string, Expression>;

/**
 * Returns the grammar without branches that no text can finish (such as an object that must contain another of its kind): a
 * text that entered one could never end. Returns null if nothing is left.
 */
export function withoutDeadEnds(rules: Rules): Rules | null {
  const finite = rulesWhere(rules, canEnd);
  if (!finite.has("root")) return null;
  return new Map([...rules].filter(([name]) => finite.has(name)).map(([name, body]) => [name, pruned(body, finite)]));
}

/** Returns a grammar of an expression, with the rules that it needs. */
export function rulesFrom(root: Expression, rules: Rules): Rules {
  const found = new Map([["root", root]]);
  const follow = (one: Expression): void => {
    if (one.kind === "sequence") one.parts.forEach(follow);
    if (one.kind === "choice") one.options.forEach(follow);
    if (one.kind === "repeat") follow(one.of);
    if (one.kind === "rule" && !found.has(one.name)) found.set(one.name, rules.get(one.name) ?? IMPOSSIBLE);
  };
  for (const body of found.values()) follow(body); // with those that are found meanwhile
  return found;
}

/** Returns the rules for which something holds, given those for which it does. */
export function rulesWhere(
  rules: Rules,
  holds: (body: Expression, names: ReadonlySet<string>) => boolean,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (let before = -1; before < names.size;) {
    before = names.size;
    for (const [name, body] of rules) if (!names.has(name) && holds(body, names)) names.add(name);
  }
  return names;
}

/** @param empty rules that may be empty */
export function mayBeEmpty(expression: Expression, empty: ReadonlySet<string>): boolean {
  switch (expression.kind) {
    case "text":
      return expression.text === "";
    case "character":
      return false;
    case "sequence":
      return expression.parts.every((part) => mayBeEmpty(part, empty));
    case "choice":
      return expression.options.some((option) => mayBeEmpty(option, empty));
    case "repeat":
      return expression.min === 0 || mayBeEmpty(expression.of, empty);
    case "rule":
      return empty.has(expression.name);
  }
}

function canEnd(expression: Expression, finite: ReadonlySet<string>): boolean {
  switch (expression.kind) {
    case "text":
      return true;
    case "character":
      return expression.set.length > 0;
    case "sequence":
      return expression.parts.every((part) => canEnd(part, finite));
    case "choice":
      return expression.options.some((option) => canEnd(option, finite));
    case "repeat":
      return expression.max >= expression.min && (expression.min === 0 || canEnd(expression.of, finite));
    case "rule":
      return finite.has(expression.name);
  }
}

/** Returns an expression that can end, without its dead ends; itself if it has none. */
function pruned(expression: Expression, finite: ReadonlySet<string>): Expression {
  switch (expression.kind) {
    case "sequence": {
      const parts = expression.parts.map((part) => pruned(part, finite));
      return isSame(parts, expression.parts) ? expression : sequence(...parts);
    }
    case "choice": {
      const alive = expression.options.filter((option) => canEnd(option, finite));
      const options = alive.map((option) => pruned(option, finite));
      return isSame(options, expression.options) ? expression : choice(...options);
    }
    case "repeat": {
      if (!canEnd(expression.of, finite)) return NOTHING;
      const of = pruned(expression.of, finite);
      return of === expression.of ? expression : repeat(of, expression.min, expression.max);
    }
    case "text":
    case "character":
    case "rule":
      return expression;
  }
}

function isSame(a: readonly Expression[], b: readonly Expression[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}
