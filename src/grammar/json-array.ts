import { choice, NOTHING, repeat, sequence, text, type Expression } from "./expression.ts";
import { COMMA } from "./json-text.ts";
import type { SchemaNode, SchemaVisitor } from "./schema-node.ts";

const MAX_ITEMS = 1000;

/** All `prefixItems` are present, up to maxItems. More elements need a schema in `items`. */
export function arrayOf(node: SchemaNode, visitor: SchemaVisitor): Expression {
  const prefix = node.has("prefixItems")
    ? node.list("prefixItems").map((one, i) => visitor.visit(one, `${node.path}.prefixItems[${i}]`))
    : [];
  const items = node.get("items");
  if (Array.isArray(items)) throw node.unsupported("items", "for a list of schemas use prefixItems");
  const min = node.count("minItems", MAX_ITEMS) ?? 0;
  const max = node.count("maxItems", MAX_ITEMS) ?? Infinity;
  const mayHaveMore = items !== false && (items !== undefined || prefix.length === 0 || min > prefix.length);
  const first = prefix.slice(0, max);
  const minMore = Math.max(0, min - first.length);
  const maxMore = mayHaveMore ? max - first.length : 0;
  const item = visitor.define(items === undefined ? visitor.anyValue() : visitor.visit(items, `${node.path}.items`));
  return listOf(first, item, minMore, maxMore);
}

export function anyArray(visitor: SchemaVisitor): Expression {
  return listOf([], visitor.anyValue(), 0, Infinity);
}

/** Returns brackets around the first elements and a number of further ones. */
function listOf(first: readonly Expression[], item: Expression, min: number, max: number): Expression {
  const comma = text(COMMA);
  const head = first.flatMap((one, i) => (i === 0 ? [one] : [comma, one]));
  const more = (from: number, to: number) => repeat(sequence(comma, item), from, to);
  const tail =
    first.length > 0
      ? more(min, max)
      : choice(
          ...(min === 0 ? [NOTHING] : []),
          ...(max > 0 ? [sequence(item, more(Math.max(0, min - 1), max - 1))] : []),
        );
  return sequence(text("["), ...head, tail, text("]"));
}
