import { choice, IMPOSSIBLE, NOTHING, repeat, sequence, text, type Expression } from "./expression.ts";
import { jsonText, type Layout } from "./json-text.ts";
import { largestCount, smallestCount, type PlacedSchema, type SchemaNode, type SchemaVisitor } from "./schema-node.ts";

/** Elements that must be written one by one. */
const MAX_SINGLE = 1000;
/** Values of which all sets are written. */
const MAX_UNIQUE = 8;

/** Returns an array that is valid under all of these schemas. */
export function arrayOf(nodes: readonly SchemaNode[], visitor: SchemaVisitor): Expression {
  const min = largestCount(nodes, "minItems");
  const max = smallestCount(nodes, "maxItems");
  const unevaluated = nodes.find((node) => (node.get("unevaluatedItems") ?? true) !== true);
  if (unevaluated) throw unevaluated.unsupported("unevaluatedItems", "use items");
  const lists = nodes.map(itemsOf);
  const hasFirst = lists.some(({ first }) => first.length > 0);
  const numFirst = Math.max(1, ...lists.map(({ first }) => first.length));
  const schemasAt = (at: number) => lists.flatMap(({ first, rest }) => (at < first.length ? (first[at] ?? []) : rest));
  const isEnd = (schemas: readonly PlacedSchema[]) => schemas.some(({ schema }) => schema === false);
  if (min > max) return IMPOSSIBLE;
  const unique = max > 1 ? nodes.find((node) => node.get("uniqueItems") === true) : undefined;
  const contained = nodes.filter((node) => node.has("contains"));
  if (unique !== undefined) {
    if (contained[0]) throw contained[0].unsupported("contains", "it stands beside uniqueItems; leave one of them out");
    return uniqueArray(unique, hasFirst ? [] : schemasAt(0), min, max, visitor);
  }
  if (contained.length > 0) return containing(contained, nodes, hasFirst, schemasAt(numFirst), visitor);
  const further = schemasAt(numFirst);
  const item = () => visitor.define(visitor.visit(further));
  const maxRest = isEnd(further) ? 0 : max - numFirst;
  if (numFirst > MAX_SINGLE) throw nodes[0]?.invalid("a list of fewer schemas");
  let rest =
    maxRest <= 0 ? NOTHING : repeat(sequence(visitor.layout.comma, item()), Math.max(0, min - numFirst), maxRest);
  if (min > numFirst + Math.max(0, maxRest)) rest = IMPOSSIBLE;
  for (let at = numFirst - 1; at >= 0; at--) {
    const schemas = schemasAt(at);
    const mayEnd = min <= at ? [NOTHING] : [];
    const onwards =
      at >= max || isEnd(schemas)
        ? []
        : [sequence(...(at > 0 ? [visitor.layout.comma] : []), visitor.define(visitor.visit(schemas)), rest)];
    rest = choice(...mayEnd, ...onwards);
  }
  return bracketed(rest, visitor.layout);
}

/** Returns the schemas of a schema's first elements, and of all further ones. */
function itemsOf(node: SchemaNode): {
  readonly first: readonly PlacedSchema[];
  readonly rest: readonly PlacedSchema[];
} {
  if (node.has("prefixItems")) return { first: node.schemas("prefixItems"), rest: node.schema("items") };
  if (!Array.isArray(node.get("items"))) return { first: [], rest: node.schema("items") };
  const first = (node.get("items") as unknown[]).length === 0 ? [] : node.schemas("items");
  return { first, rest: node.schema("additionalItems") };
}

function bracketed(items: Expression, { space }: Layout): Expression {
  return sequence(text("["), space, items, space, text("]"));
}

/** Returns lists with one element at least that is valid under `contains`: some elements, that one, and some more. */
function containing(
  contained: readonly SchemaNode[],
  nodes: readonly SchemaNode[],
  hasFirst: boolean,
  schemas: readonly PlacedSchema[],
  visitor: SchemaVisitor,
): Expression {
  const [node, second] = contained;
  const counts = nodes.find((one) => one.has("minContains") || one.has("maxContains"));
  const [min, max] = [largestCount(nodes, "minItems"), smallestCount(nodes, "maxItems")];
  if (node === undefined || second || counts || hasFirst || max !== Infinity || min > MAX_SINGLE) {
    const instead = "it stands beside lists of schemas, maxItems, or another one; leave one of them out";
    throw node?.unsupported("contains", instead);
  }
  const item = visitor.define(visitor.visit(schemas));
  const found = visitor.define(visitor.visit([...schemas, ...node.schema("contains")]));
  const { comma } = visitor.layout;
  // The one that is found, behind as many others as it takes; then the rest.
  const lists = Array.from({ length: Math.max(1, min) }, (_, before) => {
    const isLast = before === Math.max(1, min) - 1;
    const first = repeat(sequence(item, comma), before, isLast ? Infinity : before);
    return sequence(first, found, repeat(sequence(comma, item), Math.max(0, min - before - 1), Infinity));
  });
  return bracketed(choice(...lists), visitor.layout);
}

/** Returns lists without repetition of a few values: what may follow depends on the set of those before. */
function uniqueArray(
  node: SchemaNode,
  schemas: readonly PlacedSchema[],
  min: number,
  max: number,
  visitor: SchemaVisitor,
): Expression {
  const values = visitor.literals(schemas);
  if (values === undefined || values.length > MAX_UNIQUE) {
    throw node.unsupported(
      "uniqueItems",
      `it can be held for at most ${MAX_UNIQUE} values, in an enum of items; leave it out`,
    );
  }
  const after = (used: number, count: number): Expression =>
    visitor.refer(`unique ${node.number} ${JSON.stringify(values)} ${min} ${max} ${used}`, () => {
      const next = values.flatMap((value, i) =>
        (used >> i) & 1 || count >= max
          ? []
          : [
              sequence(
                ...(count > 0 ? [visitor.layout.comma] : []),
                text(jsonText(value)),
                after(used | (1 << i), count + 1),
              ),
            ],
      );
      return choice(...(count >= min ? [NOTHING] : []), ...next);
    });
  return bracketed(after(0, 0), visitor.layout);
}
