import { choice, IMPOSSIBLE, NOTHING, sequence, text, type Expression } from "./expression.ts";
import { furtherOf, written } from "./json-layout.ts";
import { largestCount, smallestCount, type PlacedSchema, type SchemaNode, type SchemaVisitor } from "./schema-node.ts";

/** Elements that are written one by one, times what was counted before them. */
const MAX_STATES = 4000;
/** Values of which all sets are written. */
const MAX_UNIQUE = 8;

/** How many of the elements must be and may be of some kind. */
interface Tally {
  readonly least: number;
  readonly most: number;
}

interface Kind {
  readonly element: () => Expression;
  /** By tally: whether it is one of those that are counted. */
  readonly isCounted: readonly boolean[];
}

/** The kinds of elements that an array's tallies tell apart. */
interface Kinds {
  readonly tallies: readonly Tally[];
  readonly at: (number: number) => readonly Kind[];
}

type SchemasAt = (at: number) => readonly PlacedSchema[];

export function arrayOf(nodes: readonly SchemaNode[], visitor: SchemaVisitor): Expression {
  const [min, max] = [largestCount(nodes, "minItems"), smallestCount(nodes, "maxItems")];
  const unevaluated = nodes.find((node) => (node.get("unevaluatedItems") ?? true) !== true);
  if (unevaluated) throw unevaluated.unsupported("unevaluatedItems", "use items");
  const lists = nodes.map(itemsOf);
  const numFirst = Math.max(0, ...lists.map(({ first }) => first.length));
  const schemasAt: SchemasAt = (at) =>
    lists.flatMap(({ first, rest }) => (at < first.length ? (first[at] ?? []) : rest));
  if (min > max) return IMPOSSIBLE;
  /** Number of elements from which on their number makes no difference. */
  const enough = Math.max(1, max === Infinity ? Math.max(numFirst, min) : max);
  const containing = nodes.filter((node) => node.has("contains"));
  const [contains] = containing;
  if (contains === undefined && numFirst > MAX_STATES) throw nodes[0]?.invalid("a list of fewer schemas");
  const unique = max > 1 ? nodes.find((node) => node.get("uniqueItems") === true) : undefined;
  if (unique && contains) throw contains.unsupported("contains", "it stands beside uniqueItems; leave one of them out");
  const { tallies, at: kindsAt } = unique
    ? valuesOnce(unique, numFirst > 0 ? [] : schemasAt(0), visitor)
    : foundByContains(containing, enough, schemasAt, visitor);

  const { comma, space } = visitor.layout;
  const isEnd = (at: number) => at >= max || schemasAt(at).some(({ schema }) => schema === false);
  const name = `elements ${nodes.map(({ number }) => number).join()}`;
  /** @param found by tally: how many there are before */
  const from = (at: number, found: readonly number[]): Expression => {
    const isFound = tallies.every(({ least }, i) => (found[i] ?? 0) >= least);
    if (isFound && at >= numFirst && tallies.every(({ most }) => most === Infinity)) {
      return furtherOf(isEnd(at) ? null : visitor.define(visitor.visit(schemasAt(at))), comma, at, min, max);
    }
    return visitor.refer(`${name}: ${at}, ${found.join()}`, () => {
      const mayCome = ({ isCounted }: Kind) =>
        tallies.every((tally, i) => !isCounted[i] || (found[i] ?? 0) < countedUpTo(tally));
      const ways = isEnd(at) ? [] : kindsAt(at).filter(mayCome);
      return choice(
        ...(isFound && at >= min ? [NOTHING] : []),
        ...ways.map(({ element, isCounted }) => {
          const now = found.map((count, i) => count + Number(isCounted[i]));
          return sequence(...(at > 0 ? [comma] : []), element(), from(Math.min(at + 1, enough), now));
        }),
      );
    });
  };
  const elements = from(
    0,
    tallies.map(() => 0),
  );
  return sequence(text("["), space, elements, space, text("]"));
}

/** More make no difference, or may not come. */
function countedUpTo({ least, most }: Tally): number {
  return most === Infinity ? least : most;
}

/** Returns the schemas of a schema's first elements, and of all further ones. */
function itemsOf(node: SchemaNode) {
  if (node.has("prefixItems")) return { first: node.schemas("prefixItems"), rest: node.schema("items") };
  if (!Array.isArray(node.get("items"))) return { first: [], rest: node.schema("items") };
  const first = (node.get("items") as unknown[]).length === 0 ? [] : node.schemas("items");
  return { first, rest: node.schema("additionalItems") };
}

/** An element is valid or, where that counts, not valid under each `contains`. */
function foundByContains(
  nodes: readonly SchemaNode[],
  numElements: number,
  schemasAt: SchemasAt,
  visitor: SchemaVisitor,
): Kinds {
  const tallies = nodes.flatMap((node) =>
    node.schema("contains").map((schema) => {
      return { node, schema, least: node.count("minContains") ?? 1, most: node.count("maxContains") ?? Infinity };
    }),
  );
  const numStates = tallies.reduce((all, tally) => 2 * all * (1 + countedUpTo(tally)), numElements);
  if (nodes[0] && numStates > MAX_STATES)
    throw nodes[0].unsupported("contains", "there are too many elements to count; leave it out");
  const at = (number: number) => {
    let kinds = [{ schemas: schemasAt(number), isCounted: [] as readonly boolean[] }];
    for (const { node, schema, most } of tallies) {
      const other = most === Infinity ? [] : [visitor.negated(schema, node.place("contains"))];
      kinds = kinds.flatMap(({ schemas, isCounted }) => [
        { schemas: [...schemas, ...other], isCounted: [...isCounted, false] },
        { schemas: [...schemas, schema], isCounted: [...isCounted, true] },
      ]);
    }
    return kinds.map(({ schemas, isCounted }) => ({
      element: () => visitor.define(visitor.visit(schemas)),
      isCounted,
    }));
  };
  return { tallies, at };
}

/** Each element is one of a few values, which may come once. */
function valuesOnce(node: SchemaNode, schemas: readonly PlacedSchema[], visitor: SchemaVisitor): Kinds {
  const values = visitor.literals(schemas);
  if (values === undefined || values.length > MAX_UNIQUE) {
    const instead = `it can be held for at most ${MAX_UNIQUE} values, in an enum of items; leave it out`;
    throw node.unsupported("uniqueItems", instead);
  }
  const kinds = values.map((value, i) => ({
    element: () => written(value, visitor.layout),
    isCounted: values.map((_, j) => i === j),
  }));
  return { tallies: values.map(() => ({ least: 0, most: 1 })), at: () => kinds };
}
