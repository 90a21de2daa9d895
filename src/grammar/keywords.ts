// What each keyword says the other way round: schemas of which one at least is valid where the keyword's isn't.

import { isObject } from "../protocol/json-object.ts";
import { formatLength, formatPattern } from "./formats.ts";
import { LEFT_OUT } from "./schema-left-out.ts";
import { NOT_ENUM, NOT_INTEGER, NOT_PATTERN, type SchemaNode } from "./schema-node.ts";
import { givenTypes, TYPES } from "./schema-types.ts";

/** @throws NotHeld if there are no such schemas */
type Opposite = (node: SchemaNode, keyword: string) => unknown[];

const unsaid: Opposite = (node, keyword) => {
  throw node.unsupported(keyword, "it can't be said the other way round, as not, oneOf or if would need it here");
};
/** Changes only what another keyword says. */
const silent: Opposite = () => [];
const unsaidUnless =
  (harmless: boolean): Opposite =>
  (node, keyword) =>
    node.get(keyword) === harmless ? [] : unsaid(node, keyword);
const tooFew =
  (type: string, most: string): Opposite =>
  (node, keyword) => {
    const count = node.count(keyword) ?? 0;
    return count === 0 ? [] : [{ type, [most]: count - 1 }];
  };
const tooMany =
  (type: string, least: string): Opposite =>
  (node, keyword) => [{ type, [least]: (node.count(keyword) ?? 0) + 1 }];
const all = (node: SchemaNode, keyword: string) => node.list(keyword).map((one) => ({ not: one }));

const beyond =
  (bound: string): Opposite =>
  (node, keyword) => [{ type: "number", [bound]: node.get(keyword) }];

/** Keywords that say something about a value by themselves. Those that no draft has are ignored, as drafts say. */
const OWN: Readonly<Record<string, Opposite>> = {
  type: (node) => {
    const types = givenTypes(node) ?? [];
    const isOnlyInteger = types.includes("integer") && !types.includes("number");
    const decimals = isOnlyInteger ? [{ type: "number", [NOT_INTEGER]: true }] : [];
    const others = isOnlyInteger ? ["integer", "number"] : ["integer"];
    const left = TYPES.filter((type) => !types.includes(type) && !others.includes(type));
    return [...(left.length > 0 ? [{ type: left }] : []), ...decimals];
  },
  const: (node) => [{ [NOT_ENUM]: [node.get("const")] }],
  enum: (node) => [{ [NOT_ENUM]: node.list("enum") }],
  [NOT_ENUM]: (node) => [{ enum: node.get(NOT_ENUM) }],
  properties: (node) => {
    const value = node.get("properties");
    return Object.entries(isObject(value) ? value : {}).map(([name, one]) => ({
      type: "object",
      required: [name],
      properties: { [name]: { not: one } },
    }));
  },
  required: (node) => node.names("required").map((name) => ({ type: "object", properties: { [name]: false } })),
  additionalProperties: unsaidUnless(true),
  patternProperties: unsaid,
  propertyNames: unsaid,
  minProperties: tooFew("object", "maxProperties"),
  maxProperties: tooMany("object", "minProperties"),
  unevaluatedProperties: unsaid,
  items: (node, keyword) => {
    const value = node.get(keyword);
    if (Array.isArray(value) || node.has("prefixItems")) return unsaid(node, keyword);
    return [{ type: "array", contains: { not: value } }];
  },
  prefixItems: unsaid,
  additionalItems: unsaidUnless(true),
  unevaluatedItems: unsaid,
  contains: (node, keyword) => {
    if (node.has("minContains") || node.has("maxContains")) return unsaid(node, keyword);
    return [{ type: "array", items: { not: node.get(keyword) } }];
  },
  minContains: silent,
  maxContains: silent,
  minItems: tooFew("array", "maxItems"),
  maxItems: tooMany("array", "minItems"),
  uniqueItems: unsaidUnless(false),
  minLength: tooFew("string", "maxLength"),
  maxLength: tooMany("string", "minLength"),
  pattern: (node) => [{ type: "string", [NOT_PATTERN]: node.get("pattern") }],
  format: (node) => {
    const [pattern, most] = [formatPattern(node), formatLength(node)];
    return [
      ...(pattern === undefined ? [] : [{ type: "string", [NOT_PATTERN]: pattern }]),
      ...(most === Infinity ? [] : [{ type: "string", minLength: most + 1 }]),
    ];
  },
  [NOT_PATTERN]: (node) => [{ type: "string", pattern: node.get(NOT_PATTERN) }],
  minimum: beyond("exclusiveMaximum"),
  maximum: beyond("exclusiveMinimum"),
  exclusiveMinimum: beyond("maximum"),
  exclusiveMaximum: beyond("minimum"),
  multipleOf: unsaid,
  [NOT_INTEGER]: () => [{ type: ["null", "boolean", "string", "array", "object", "integer"] }],
  [LEFT_OUT]: unsaid,
};

/** Keywords that are about the same value as their schema. */
const COMBINING: Readonly<Record<string, Opposite>> = {
  allOf: all,
  anyOf: (node, keyword) => [{ allOf: all(node, keyword) }],
  oneOf: unsaid,
  not: (node) => [node.get("not")],
  if: unsaid,
  dependencies: unsaid,
  dependentRequired: unsaid,
  dependentSchemas: unsaid,
};

export const OWN_KEYWORDS = Object.keys(OWN);

/** Returns schemas of which at least one is valid where one of the node's keywords isn't, and none where all are. @throws NotHeld */
export function oppositesOf(node: SchemaNode): unknown[] {
  return Object.entries({ ...OWN, ...COMBINING }).flatMap(([keyword, opposite]) =>
    node.has(keyword) ? opposite(node, keyword) : [],
  );
}
