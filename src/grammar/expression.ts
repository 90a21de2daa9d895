import type { CharSet } from "./char-set.ts";

/** Describes a text or a part of a text. */
export type Expression =
  | Leaf
  | { readonly kind: "sequence"; readonly parts: readonly Expression[] }
  /** One of these options; without options, no text matches. */
  | { readonly kind: "choice"; readonly options: readonly Expression[] }
  | { readonly kind: "repeat"; readonly of: Expression; readonly min: number; readonly max: number };

export type Leaf =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "character"; readonly set: CharSet }
  | { readonly kind: "rule"; readonly name: string }
  /** A finite automaton of texts that have at most so many characters. The first state is the start; all can come to an end. */
  | { readonly kind: "states"; readonly states: readonly AutomatonState[]; readonly most: number }
  /** A token of the vocabulary, whatever text it has. */
  | { readonly kind: "token"; readonly id: number };

interface AutomatonState {
  readonly isEnd: boolean;
  /** Fewest characters from here to an end. */
  readonly least: number;
  /** Each one reads a character. */
  readonly ways: readonly { readonly of: Expression; readonly to: number }[];
}

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

export function partsOf(expression: Expression): readonly Expression[] {
  if (expression.kind === "sequence") return expression.parts;
  if (expression.kind === "choice") return expression.options;
  return expression.kind === "repeat" ? [expression.of] : [];
}

/** Returns whether something holds for an expression or any that it is made of. Rules are not followed. */
export function hasPart(expression: Expression, holds: (one: Expression) => boolean): boolean {
  return holds(expression) || partsOf(expression).some((part) => hasPart(part, holds));
}

/** Returns a grammar of an expression, with the rules that it needs. */
export function rulesFrom(root: Expression, rules: Rules): Rules {
  const found = new Map([["root", root]]);
  const follow = (one: Expression): void => {
    partsOf(one).forEach(follow);
    if (one.kind === "rule" && !found.has(one.name)) found.set(one.name, rules.get(one.name) ?? IMPOSSIBLE);
  };
  for (const body of found.values()) follow(body); // with those that are found meanwhile
  return found;
}

/** Returns a function that replaces leaves. What is shared stays shared, and what stays as it is is not copied. */
export function replacing(replace: (leaf: Leaf) => Expression): (expression: Expression) => Expression {
  const known = new Map<Expression, Expression>();
  const made = (one: Expression): Expression => {
    const parts = partsOf(one).map(replaced);
    const isSame = parts.every((part, i) => part === partsOf(one)[i]);
    if (one.kind === "sequence") return isSame ? one : sequence(...parts);
    if (one.kind === "choice") return isSame ? one : choice(...parts);
    return one.kind === "repeat" ? repeat(parts[0] ?? one.of, one.min, one.max) : replace(one);
  };
  const replaced = (one: Expression): Expression => {
    const found = known.get(one) ?? made(one);
    known.set(one, found);
    return found;
  };
  return replaced;
}

/** Returns a grammar's rules under other names: the prefix alone for "root", before all others. */
export function withPrefix(rules: Rules, prefix: string): Rules {
  const nameOf = (name: string) => (name === "root" ? prefix : `${prefix}.${name}`);
  const renamed = replacing((leaf) => (leaf.kind === "rule" ? rule(nameOf(leaf.name)) : leaf));
  return new Map([...rules].map(([name, body]) => [nameOf(name), renamed(body)]));
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
  return canBeMade(expression, (one) => {
    if (one.kind === "states") return one.states[0]?.isEnd ?? false;
    return one.kind === "text" ? one.text === "" : "name" in one && empty.has(one.name);
  });
}

/** Returns whether any text matches. @param finite rules that some text matches */
export function canEnd(expression: Expression, finite: ReadonlySet<string>): boolean {
  return canBeMade(expression, (one) =>
    one.kind === "character" ? one.set.length > 0 : !("name" in one) || finite.has(one.name),
  );
}

/** Returns whether a text matches of which all leaves are such ones. */
function canBeMade(expression: Expression, isSuch: (leaf: Leaf) => boolean): boolean {
  if (expression.kind === "sequence") return expression.parts.every((part) => canBeMade(part, isSuch));
  if (expression.kind === "choice") return expression.options.some((option) => canBeMade(option, isSuch));
  if (expression.kind !== "repeat") return isSuch(expression);
  return expression.max >= expression.min && (expression.min === 0 || canBeMade(expression.of, isSuch));
}
