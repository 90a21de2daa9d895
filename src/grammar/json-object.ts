import { charSetOf, complement, intersection, union } from "./char-set.ts";
import { character, choice, IMPOSSIBLE, NOTHING, repeat, sequence, text, type Expression } from "./expression.ts";
import { ANY_TEXT, COLON, COMMA, jsonString, PLAIN_CHARACTER } from "./json-text.ts";
import { type SchemaNode, type SchemaVisitor } from "./schema-node.ts";
import { isObject } from "../protocol/json-object.ts";

/** Returns an object with its properties in the schema's order, then those of `additionalProperties`. */
export function objectOf(node: SchemaNode, visitor: SchemaVisitor): Expression {
  const properties = node.get("properties") ?? {};
  if (!isObject(properties)) throw node.at("properties").invalid("an object of schemas");
  const required = node.get("required") ?? [];
  if (!Array.isArray(required) || required.some((name) => typeof name !== "string")) {
    throw node.at("required").invalid("a list of names");
  }
  const names = [...new Set([...Object.keys(properties), ...(required as string[])])];
  const additional = node.get("additionalProperties");
  const schemaOf = (name: string) => {
    if (Object.hasOwn(properties, name)) return visitor.visit(properties[name], `${node.path}.properties.${name}`);
    return otherValue();
  };
  const otherValue = () =>
    additional === undefined ? visitor.anyValue() : visitor.visit(additional, `${node.path}.additionalProperties`);
  const hasOthers = additional !== undefined || names.length === 0;
  refuseCounts(node, required.length, hasOthers ? Infinity : names.length);
  const others = hasOthers ? membersOf(keyOtherThan(names, visitor), visitor.define(otherValue())) : null;

  let afterSome: Expression = others === null ? NOTHING : choice(NOTHING, sequence(text(COMMA), others));
  let afterNone: Expression = others === null ? NOTHING : choice(NOTHING, others);
  for (const name of names.toReversed()) {
    const member = visitor.define(sequence(text(`${JSON.stringify(name)}${COLON}`), schemaOf(name)));
    const withMember = (rest: Expression, ...before: Expression[]) => sequence(...before, member, rest);
    const skip = (rest: Expression) => (required.includes(name) ? [] : [rest]);
    const nextSome = afterSome;
    afterSome = visitor.define(choice(withMember(nextSome, text(COMMA)), ...skip(nextSome)));
    afterNone = visitor.define(choice(withMember(nextSome), ...skip(afterNone)));
  }
  return sequence(text("{"), afterNone, text("}"));
}

export function anyObject(visitor: SchemaVisitor): Expression {
  return sequence(text("{"), choice(NOTHING, membersOf(jsonString(ANY_TEXT), visitor.anyValue())), text("}"));
}

/** Returns one or more members. */
function membersOf(key: Expression, value: Expression): Expression {
  const member = sequence(key, text(COLON), value);
  return sequence(member, repeat(sequence(text(COMMA), member), 0, Infinity));
}

/** Accepts only limits that always hold: repeated names count once, which a grammar can't express. */
function refuseCounts(node: SchemaNode, least: number, most: number): void {
  if ((node.count("minProperties", 1e9) ?? 0) > least) {
    throw node.unsupported("minProperties", "name properties in required instead");
  }
  if ((node.count("maxProperties", 1e9) ?? Infinity) < most) {
    throw node.unsupported("maxProperties", "name all properties, and set additionalProperties to false");
  }
}

/** Returns any key except these, without escapes: letter by letter, every text that differs from them or ends before. */
function keyOtherThan(names: readonly string[], visitor: SchemaVisitor): Expression {
  const anything = repeat(character(PLAIN_CHARACTER), 0, Infinity);
  const restAfter = (left: readonly string[]): Expression => {
    if (left.length === 0) return anything;
    const next = new Set(left.filter((name) => name !== "").map((name) => Array.from(name)[0] ?? ""));
    const others = intersection(PLAIN_CHARACTER, complement(union(...[...next].map(charSetOf))));
    const onTheWay = [...next].map((letter) => {
      const rest = left.filter((name) => name !== "" && name.startsWith(letter));
      const isPlain = intersection(charSetOf(letter), PLAIN_CHARACTER).length > 0;
      const after = restAfter(rest.map((name) => name.slice(letter.length)));
      return isPlain ? sequence(text(letter), after) : IMPOSSIBLE;
    });
    const end = left.includes("") ? [] : [NOTHING];
    return visitor.define(choice(...end, sequence(character(others), anything), ...onTheWay));
  };
  return sequence(text('"'), restAfter(names), text('"'));
}
