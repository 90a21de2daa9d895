import { integersWithin, numbersWithin } from "./decimal-range.ts";
import { choice, type Expression } from "./expression.ts";
import type { SchemaNode, SchemaVisitor } from "./schema-node.ts";

/** Without exponents, and of at most 15 digits. In rules of its own: of large ones, xgrammar makes something else. */
export function numberOf(node: SchemaNode, type: "integer" | "number", visitor: SchemaVisitor): Expression {
  const bounds = {
    minimum: node.number("minimum") ?? -Infinity,
    maximum: node.number("maximum") ?? Infinity,
    exclusiveMinimum: node.number("exclusiveMinimum") ?? -Infinity,
    exclusiveMaximum: node.number("exclusiveMaximum") ?? Infinity,
  };
  const parts = type === "integer" ? [integersWithin(bounds)] : numbersWithin(bounds);
  return choice(...parts.map((part) => visitor.define(part)));
}
