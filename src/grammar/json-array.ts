import { choice, IMPOSSIBLE, NOTHING, repeat, sequence, text, type Expression } from "./expression.ts";
import { written, type Layout } from "./json-text.ts";
import { largestCount, smallestCount, type PlacedSchema, type SchemaNode, type SchemaVisitor } from "./schema-node.ts";

/** Elements that are written one by one, times what `contains` has found before them. */
const MAX_STATES = 4000;
/** Values of which all sets are written. */
const MAX_UNIQUE = 8;

/** Returns an array that is valid under all of these schemas. */
export function arrayOf(nodes: readonly SchemaNode[], visitor: SchemaVisitor): Expression {
  const min = largestCount(nodes, "minItems");
  const max = smallestCount(nodes, "maxItems");
  const unevaluated = nodes.find((node) => (node.get("unevaluatedItems") ?? true) !== true);
  if (unevaluated) throw unevaluated.unsupported("unevaluatedItems", "use items");
  const lists = nodes.map(itemsOf);
  const numFirst = Math.max(0, ...lists.map(({ first }) => first.length));
  const schemasAt = (at: number) => lists.flatMap(({ first, rest }) => (at < first.length ? (first[at] ?? []) : rest));
  if (min > max) return IMPOSSIBLE;
  const containing = nodes.filter((node) => node.has("contains"));
  const unique = max > 1 ? nodes.find((node) => node.get("uniqueItems") === true) : undefined;
  if (unique === undefined) {
    return bracketed(new Elements(nodes, containing, numFirst, schemasAt, visitor).from(0), visitor.layout);
  }
  const [first] = containing;
  if (first) throw first.unsupported("contains", "it stands beside uniqueItems; leave one of them out");
  return uniqueArray(unique, numFirst > 0 ? [] : schemasAt(0), min, max, visitor);
}

/** The elements of an array: what may follow depends on their number, and on how many `contains` has found. */
class Elements {
  readonly #min: number;
  readonly #max: number;
  readonly #numFirst: number;
  /** Number of elements from which on their number makes no difference. */
  readonly #enough: number;
  readonly #schemasAt: (at: number) => readonly PlacedSchema[];
  readonly #contains: readonly { node: SchemaNode; schema: PlacedSchema; least: number; most: number }[];
  readonly #visitor: SchemaVisitor;
  readonly #name: string;

  constructor(
    nodes: readonly SchemaNode[],
    containing: readonly SchemaNode[],
    numFirst: number,
    schemasAt: (at: number) => readonly PlacedSchema[],
    visitor: SchemaVisitor,
  ) {
    this.#min = largestCount(nodes, "minItems");
    this.#max = smallestCount(nodes, "maxItems");
    this.#numFirst = numFirst;
    this.#enough = this.#max === Infinity ? Math.max(numFirst, this.#min) : this.#max;
    this.#schemasAt = schemasAt;
    this.#contains = containing.flatMap((node) =>
      node.schema("contains").map((schema) => {
        return { node, schema, least: node.count("minContains") ?? 1, most: node.count("maxContains") ?? Infinity };
      }),
    );
    this.#visitor = visitor;
    this.#name = `elements ${nodes.map(({ number }) => number).join()}`;
    const [first] = containing;
    const numStates = this.#contains.reduce(
      (all, { least, most }) => 2 * all * (1 + (most === Infinity ? least : most)),
      first ? this.#enough : numFirst,
    );
    if (numStates <= MAX_STATES) return;
    throw (
      first?.unsupported("contains", "there are too many elements to count; leave it out") ??
      nodes[0]?.invalid("a list of fewer schemas")
    );
  }

  /** @param found number of elements so far that are valid, by `contains` */
  from(at: number, found: readonly number[] = this.#contains.map(() => 0)): Expression {
    const isFree = this.#contains.every(({ least, most }, i) => most === Infinity && (found[i] ?? 0) >= least);
    if (isFree && at >= Math.max(1, this.#numFirst)) return this.#further(at);
    return this.#visitor.refer(`${this.#name}: ${at}, ${found.join()}`, () => {
      const mayEnd = at >= this.#min && this.#contains.every(({ least }, i) => (found[i] ?? 0) >= least);
      const onwards = at < this.#max && !this.#isEnd(at) ? this.#ways(this.#schemasAt(at), found) : [];
      const { comma } = this.#visitor.layout;
      return choice(
        ...(mayEnd ? [NOTHING] : []),
        ...onwards.map(({ schemas, found: next }) => {
          const item = this.#visitor.define(this.#visitor.visit(schemas));
          return sequence(...(at > 0 ? [comma] : []), item, this.from(Math.min(at + 1, this.#countable), next));
        }),
      );
    });
  }

  get #countable(): number {
    return Math.max(1, this.#enough);
  }

  /** Returns elements that are all alike, behind others. */
  #further(at: number): Expression {
    const most = this.#isEnd(at) ? 0 : this.#max - at;
    if (this.#min - at > most) return IMPOSSIBLE;
    if (most <= 0) return NOTHING;
    const item = this.#visitor.define(this.#visitor.visit(this.#schemasAt(at)));
    return repeat(sequence(this.#visitor.layout.comma, item), Math.max(0, this.#min - at), most);
  }

  #isEnd(at: number): boolean {
    return this.#schemasAt(at).some(({ schema }) => schema === false);
  }

  /** Returns what an element may be: valid or, where that counts, not valid under each `contains`. */
  #ways(schemas: readonly PlacedSchema[], found: readonly number[]) {
    let ways = [{ schemas, found: [] as readonly number[] }];
    this.#contains.forEach(({ node, schema, least, most }, i) => {
      const before = found[i] ?? 0;
      const other = most === Infinity ? [] : [this.#visitor.negated(schema, node.place("contains"))];
      const mayCount = before < (most === Infinity ? least : most);
      ways = ways.flatMap((way) => [
        { schemas: [...way.schemas, ...other], found: [...way.found, before] },
        ...(mayCount ? [{ schemas: [...way.schemas, schema], found: [...way.found, before + 1] }] : []),
      ]);
    });
    return ways;
  }
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
                written(value, visitor.layout),
                after(used | (1 << i), count + 1),
              ),
            ],
      );
      return choice(...(count >= min ? [NOTHING] : []), ...next);
    });
  return bracketed(after(0, 0), visitor.layout);
}
