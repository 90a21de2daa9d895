import { isObject } from "../protocol/json-object.ts";
import { formatLength, formatPattern } from "./formats.ts";
import { NOT_ENUM, NOT_INTEGER, NOT_PATTERN, type SchemaNode } from "./schema-node.ts";
import { givenTypes, TYPES } from "./schema-types.ts";

/** Keywords that a schema may have beside the negated ones without a change. */
const SILENT = ["then", "else", "minContains", "maxContains"];

/**
 * Returns schemas of which at least one is valid where this one isn't, and none where it is.
 * @param keywords that say something at all; all others are ignored
 * @throws ChorusError unsupported_parameter for what has no such schemas
 */
export function negationOf(node: SchemaNode, keywords: readonly string[]): unknown[] {
  return keywords
    .filter((keyword) => node.has(keyword) && !SILENT.includes(keyword))
    .flatMap((keyword) => without(node, keyword));
}

function without(node: SchemaNode, keyword: string): unknown[] {
  const value = node.get(keyword);
  const count = () => node.count(keyword) ?? 0;
  const listed = () => node.list(keyword).map((one) => ({ not: one }));
  switch (keyword) {
    case "type": {
      const types = givenTypes(node) ?? [];
      const isOnlyInteger = types.includes("integer") && !types.includes("number");
      const decimals = isOnlyInteger ? [{ type: "number", [NOT_INTEGER]: true }] : [];
      const others = isOnlyInteger ? ["integer", "number"] : ["integer"];
      const left = TYPES.filter((type) => !types.includes(type) && !others.includes(type));
      return [...(left.length > 0 ? [{ type: left }] : []), ...decimals];
    }
    case "const":
      return [{ [NOT_ENUM]: [value] }];
    case "enum":
      return [{ [NOT_ENUM]: node.list("enum") }];
    case NOT_ENUM:
      return [{ enum: value }];
    case "pattern":
      return [{ type: "string", [NOT_PATTERN]: value }];
    case NOT_INTEGER:
      return [{ type: ["null", "boolean", "string", "array", "object", "integer"] }];
    case NOT_PATTERN:
      return [{ type: "string", pattern: value }];
    case "minLength":
      return count() === 0 ? [] : [{ type: "string", maxLength: count() - 1 }];
    case "maxLength":
      return [{ type: "string", minLength: count() + 1 }];
    case "minimum":
      return [{ type: "number", [node.get("exclusiveMinimum") === true ? "maximum" : "exclusiveMaximum"]: value }];
    case "maximum":
      return [{ type: "number", [node.get("exclusiveMaximum") === true ? "minimum" : "exclusiveMinimum"]: value }];
    case "exclusiveMinimum":
      return typeof value === "boolean" ? [] : [{ type: "number", maximum: value }];
    case "exclusiveMaximum":
      return typeof value === "boolean" ? [] : [{ type: "number", minimum: value }];
    case "minItems":
      return count() === 0 ? [] : [{ type: "array", maxItems: count() - 1 }];
    case "maxItems":
      return [{ type: "array", minItems: count() + 1 }];
    case "minProperties":
      return count() === 0 ? [] : [{ type: "object", maxProperties: count() - 1 }];
    case "maxProperties":
      return [{ type: "object", minProperties: count() + 1 }];
    case "required":
      return node.names(keyword).map((name) => ({ type: "object", properties: { [name]: false } }));
    case "properties":
      return Object.entries(isObject(value) ? value : {}).map(([name, one]) => ({
        type: "object",
        required: [name],
        properties: { [name]: { not: one } },
      }));
    case "items":
      if (Array.isArray(value) || node.has("prefixItems")) break;
      return [{ type: "array", contains: { not: value } }];
    case "contains":
      if (node.has("minContains") || node.has("maxContains")) break;
      return [{ type: "array", items: { not: value } }];
    case "anyOf":
      return [{ allOf: listed() }];
    case "allOf":
      return listed();
    case "not":
      return [value];
    case "additionalProperties":
    case "additionalItems":
    case "uniqueItems":
      if (value === (keyword !== "uniqueItems")) return [];
      break;
    case "format": {
      const pattern = formatPattern(value);
      const most = formatLength(value);
      return [
        ...(pattern === undefined ? [] : [{ type: "string", [NOT_PATTERN]: pattern }]),
        ...(most === Infinity ? [] : [{ type: "string", minLength: most + 1 }]),
      ];
    }
  }
  throw node.unsupported(keyword, "it can't be said the other way round, as not, oneOf or if would need it here");
}
