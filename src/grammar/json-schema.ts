// JSON schemas as grammars. Every text of the grammar is valid under the schema. The converse doesn't hold: properties come
// in the schema's order, and only those that it names, unless it describes others. Keywords that a grammar can't express
// are errors that name the keyword; they are never ignored.

import { ChorusError } from "../protocol/errors.ts";
import { percentDecoded } from "../protocol/percent-decoded.ts";
import { choice, IMPOSSIBLE, rule, text, withoutDeadEnds, type Expression, type Rules } from "./expression.ts";
import { anyArray, arrayOf } from "./json-array.ts";
import { anyObject, objectOf } from "./json-object.ts";
import { SchemaNode, type SchemaVisitor } from "./schema-node.ts";
import { isObject } from "../protocol/json-object.ts";
import { integersWithin, numbersWithin } from "./decimal-range.ts";
import { stringOf } from "./json-string.ts";
import { ANY_TEXT, jsonString, jsonText } from "./json-text.ts";

/** Keywords that don't affect validity. */
const ANNOTATIONS = [
  "title",
  "description",
  "default",
  "example",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$schema",
  "$id",
  "$comment",
  "$defs",
  "definitions",
];

const KEYWORDS_OF = {
  object: ["properties", "required", "additionalProperties", "minProperties", "maxProperties"],
  array: ["items", "prefixItems", "minItems", "maxItems"],
  string: ["minLength", "maxLength", "pattern", "format"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  boolean: [],
  null: [],
} as const;

type TypeName = keyof typeof KEYWORDS_OF;
const TYPES = Object.keys(KEYWORDS_OF) as TypeName[];

/** Each of these defines validity alone: no other keyword may accompany it, except `type` with the first two. */
const WHOLE = ["const", "enum", "$ref", "anyOf", "oneOf", "allOf"] as const;

const KNOWN: readonly string[] = [...ANNOTATIONS, "type", ...WHOLE, ...new Set(Object.values(KEYWORDS_OF).flat())];

/** A schema that is nested deeper counts as one that contains itself. */
const MAX_DEPTH = 64;

/**
 * @param param the field with the schema, for errors
 * @throws ChorusError invalid_type, invalid_value, unsupported_parameter, naming the place in the schema
 */
export function jsonSchemaRules(schema: unknown, param: string): Rules {
  const rules = new Writer(schema, param).rules();
  const finite = withoutDeadEnds(rules);
  if (finite !== null) return finite;
  throw new ChorusError("invalid_value", `${param} describes nothing that can be written here.`, param);
}

class Writer implements SchemaVisitor {
  readonly #document: unknown;
  readonly #param: string;
  readonly #rules = new Map<string, Expression>();
  /** Rules of the schemas that $ref points to, by pointer. */
  readonly #referred = new Map<string, string>();

  constructor(document: unknown, param: string) {
    this.#document = document;
    this.#param = param;
  }

  rules(): Rules {
    this.#rules.set("root", IMPOSSIBLE); // its place is the first
    this.#rules.set("root", this.visit(this.#document, this.#param));
    return this.#rules;
  }

  define(body: Expression): Expression {
    const name = `rule${this.#rules.size}`;
    this.#rules.set(name, body);
    return rule(name);
  }

  anyValue(): Expression {
    return this.#refer("any value", () =>
      choice(
        anyObject(this),
        anyArray(this),
        jsonString(ANY_TEXT),
        numberOf(new SchemaNode({}, this.#param), "number", this),
        text("true"),
        text("false"),
        text("null"),
      ),
    );
  }

  visit(schema: unknown, path: string): Expression {
    if (schema === true) return this.anyValue();
    if (schema === false) return IMPOSSIBLE;
    const node = new SchemaNode(schema, path);
    if (path.split(/[.[]/).length > MAX_DEPTH) throw node.invalid("nested less deeply");
    node.refuseOthers(KNOWN);
    const whole = WHOLE.find((keyword) => node.has(keyword));
    if (whole === undefined) return this.#byType(node);
    const beside = whole === "const" || whole === "enum" ? ["type"] : [];
    node.refuseBeside(whole, [...ANNOTATIONS, ...beside]);
    switch (whole) {
      case "const":
        return this.#literals(node, [node.get("const")]);
      case "enum":
        return this.#literals(node, node.list("enum"));
      case "$ref":
        return this.#reference(node);
      case "anyOf":
        return choice(...node.list("anyOf").map((one, i) => this.visit(one, `${path}.anyOf[${i}]`)));
      case "oneOf":
        return this.#oneOf(node);
      case "allOf": {
        const [only, ...others] = node.list("allOf");
        if (others.length > 0) throw node.unsupported("allOf", "put it all into one schema");
        return this.visit(only, `${path}.allOf[0]`);
      }
    }
  }

  #byType(node: SchemaNode): Expression {
    const given = this.#typesOf(node);
    const implied = TYPES.filter((type) => KEYWORDS_OF[type].some((keyword) => node.has(keyword)));
    const types = given ?? implied.filter((type) => type !== "integer");
    if (types.length === 0) return this.anyValue();
    return choice(...types.map((type) => this.#ofType(node, type)));
  }

  #ofType(node: SchemaNode, type: TypeName): Expression {
    switch (type) {
      case "object":
        return objectOf(node, this);
      case "array":
        return arrayOf(node, this);
      case "string":
        return stringOf(node);
      case "integer":
      case "number":
        return numberOf(node, type, this);
      case "boolean":
        return choice(text("true"), text("false"));
      case "null":
        return text("null");
    }
  }

  #typesOf(node: SchemaNode): TypeName[] | undefined {
    const value = node.get("type");
    if (value === undefined) return undefined;
    return (Array.isArray(value) ? value : [value]).map((name) => {
      const found = TYPES.find((type) => type === name);
      if (found === undefined) throw node.at("type").invalid(`one of ${TYPES.join(", ")}`);
      return found;
    });
  }

  #literals(node: SchemaNode, values: readonly unknown[]): Expression {
    const types = this.#typesOf(node);
    const valid = values.filter((value) => types === undefined || types.some((type) => isOfType(value, type)));
    return choice(...valid.map((value) => text(jsonText(value))));
  }

  /** Returns values valid under exactly one schema. They must differ in type, or in a property's constant. */
  #oneOf(node: SchemaNode): Expression {
    const options = node.list("oneOf");
    const areApart = options.every((a, i) => options.slice(i + 1).every((b) => exclude(a, b)));
    if (!areApart) {
      throw node.unsupported("oneOf", "its schemas may overlap: use anyOf, or tell them apart by type or a const");
    }
    return choice(...options.map((one, i) => this.visit(one, `${node.path}.oneOf[${i}]`)));
  }

  #reference(node: SchemaNode): Expression {
    const pointer = node.get("$ref");
    if (typeof pointer !== "string" || !/^#(\/|$)/.test(pointer)) {
      throw node.at("$ref").invalid('a place in this schema, such as "#/$defs/name"');
    }
    let place: unknown = this.#document;
    for (const step of pointer.split("/").slice(1)) {
      const name = percentDecoded(step)?.replaceAll("~1", "/").replaceAll("~0", "~");
      const isThere = name !== undefined && typeof place === "object" && place !== null && Object.hasOwn(place, name);
      if (!isThere) throw node.at("$ref").invalid("a place that is there");
      place = (place as Record<string, unknown>)[name];
    }
    return this.#refer(pointer, () => this.visit(place, `${this.#param}${pointer.slice(1).replaceAll("/", ".")}`));
  }

  /** Makes a rule once, before its expression, which may refer to it. */
  #refer(key: string, make: () => Expression): Expression {
    const known = this.#referred.get(key);
    if (known !== undefined) return rule(known);
    const name = `shared${this.#referred.size}`;
    this.#referred.set(key, name);
    this.#rules.set(name, IMPOSSIBLE);
    this.#rules.set(name, make());
    return rule(name);
  }
}

function isOfType(value: unknown, type: TypeName): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  if (type === "object") return isObject(value);
  return typeof value === type;
}

/** Returns whether obviously nothing is valid under both. */
function exclude(a: unknown, b: unknown): boolean {
  const [typesA, typesB] = [plainTypes(a), plainTypes(b)];
  if (typesA.length > 0 && typesB.length > 0 && !typesA.some((type) => typesB.includes(type))) return true;
  if (!isObject(a) || !isObject(b) || a["type"] !== "object" || b["type"] !== "object") return false;
  const [constantsA, constantsB] = [requiredConstants(a), requiredConstants(b)];
  return [...constantsA].some(([name, value]) => constantsB.has(name) && constantsB.get(name) !== value);
}

/** Returns the types in the keyword `type`; an integer is a number too. Empty without the keyword. */
function plainTypes(schema: unknown): unknown[] {
  if (!isObject(schema)) return [];
  const types = [schema["type"] ?? []].flat();
  return types.includes("integer") || types.includes("number") ? [...types, "integer", "number"] : types;
}

/** Returns the constants of required properties, as JSON. */
function requiredConstants(schema: Record<string, unknown>): Map<string, string> {
  const { properties, required } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return new Map();
  return new Map(
    Object.entries(properties).flatMap(([name, one]) => {
      const values = isObject(one) ? ("const" in one ? [one["const"]] : [one["enum"]].flat()) : [];
      return required.includes(name) && values.length === 1 && values[0] !== undefined
        ? [[name, JSON.stringify(values[0])]]
        : [];
    }),
  );
}

function numberOf(node: SchemaNode, type: "integer" | "number", visitor: SchemaVisitor): Expression {
  const bounds = {
    minimum: node.number("minimum") ?? -Infinity,
    maximum: node.number("maximum") ?? Infinity,
    exclusiveMinimum: node.number("exclusiveMinimum") ?? -Infinity,
    exclusiveMaximum: node.number("exclusiveMaximum") ?? Infinity,
  };
  const parts = type === "integer" ? integersWithin(bounds) : numbersWithin(bounds);
  return choice(...parts.map((part) => visitor.define(part)));
}
