import { Automaton } from "./automaton.ts";
import { choice, IMPOSSIBLE, sequence, text, type Expression } from "./expression.ts";
import { ANY_TEXT, furtherOf, quoted, type Layout } from "./json-layout.ts";
import { parsePattern } from "./regex.ts";
import {
  largestCount,
  notHeld,
  smallestCount,
  type PlacedSchema,
  type SchemaNode,
  type SchemaVisitor,
} from "./schema-node.ts";
import { TooComplex } from "./work.ts";

/** Classes of names, by the patterns that they match. */
const MAX_CLASSES = 64;
/** Rules for the properties, which are as many for each number of properties before. */
const MAX_RULES = 50_000;

/** Returns an object that is valid under all of these schemas, with its properties in their order, then the others. */
export function objectOf(nodes: readonly SchemaNode[], visitor: SchemaVisitor): Expression {
  const members = new Members(nodes);
  const { layout } = visitor;
  const { comma, space, brackets } = layout;
  const { names, required } = members;
  const nameSchemas = nodes.flatMap((node) => node.schema("propertyNames"));
  const allowed = nameSchemas.length > 0 ? visitor.names(nameSchemas) : null;
  const others = othersOf(members, allowed, visitor);
  const least = largestCount(nodes, "minProperties");
  const most = smallestCount(nodes, "maxProperties");
  if (others !== null && least > required.size + 1) {
    throw notHeld(nodes, ["minProperties"], "names may be repeated; name the properties in required instead");
  }
  if (required.size > most) return IMPOSSIBLE;
  /** More properties than this make no difference. */
  const enough = most === Infinity ? Math.max(1, least) : most;
  if (names.length * enough > MAX_RULES) {
    const instead = "there are too many properties beside it; leave it out";
    throw (
      notHeld(nodes, ["maxProperties", "minProperties"], instead) ??
      nodes[0]?.invalid("an object with fewer properties")
    );
  }
  let after = Array.from({ length: enough + 1 }, (_, count) => furtherOf(others, comma, count, least, most));
  for (const name of names.toReversed()) {
    const schemas = members.schemasOf(name);
    const isForbidden = schemas.some(({ schema }) => schema === false) || allowed?.has(name) === false;
    if (isForbidden && required.has(name)) return IMPOSSIBLE;
    if (isForbidden) continue;
    const member = visitor.define(
      memberOf(quoted(text(name), layout.names), layout, visitor.visit(schemas, layout.inside(name))),
    );
    const next = after;
    after = next.map((rest, count) => {
      const skip = required.has(name) ? [] : [rest];
      if (count >= most) return choice(...skip);
      const behind = next[Math.min(count + 1, enough)] ?? IMPOSSIBLE;
      return visitor.define(choice(sequence(...(count > 0 ? [comma] : []), member, behind), ...skip));
    });
  }
  return sequence(brackets[0], space, after[0] ?? IMPOSSIBLE, space, brackets[1]);
}

function memberOf(name: Expression, { colon, member: [before, after] }: Layout, value: Expression): Expression {
  return sequence(before, name, colon, value, after);
}

/** What schemas say about an object's members. */
export class Members {
  /** In the schemas' order. */
  readonly names: readonly string[];
  readonly required: ReadonlySet<string>;
  /** Patterns of names, and the names that match them. */
  readonly patterns: ReadonlyMap<string, Automaton>;
  readonly #nodes;

  constructor(nodes: readonly SchemaNode[]) {
    this.#nodes = nodes.map((node) => ({
      named: node.named("properties"),
      patterned: node.named("patternProperties"),
      additional: node.schema("additionalProperties"),
    }));
    const languageOf = (node: SchemaNode, pattern: string, { path }: PlacedSchema) =>
      node.holding("patternProperties", () =>
        Automaton.remembered(`names ${pattern}`, () => Automaton.of(parsePattern(pattern, path))),
      );
    const patterned = nodes.flatMap((node) =>
      [...node.named("patternProperties")].map(([one, placed]) => [one, languageOf(node, one, placed)] as const),
    );
    this.patterns = new Map(patterned);
    this.required = new Set(nodes.flatMap((node) => node.names("required")));
    this.names = [...new Set([...this.#nodes.flatMap(({ named }) => [...named.keys()]), ...this.required])];
  }

  schemasOf(name: string): readonly PlacedSchema[] {
    const matched = [...this.patterns].filter(([, language]) => language.has(name));
    return this.schemasMatching(new Set(matched.map(([pattern]) => pattern)), name);
  }

  /** Returns the schemas of a member whose name matches just these patterns. @param name [one that isn't in the schemas] */
  schemasMatching(matched: ReadonlySet<string>, name?: string): readonly PlacedSchema[] {
    return this.#nodes.flatMap(({ named, patterned, additional }) => {
      const own = name === undefined ? undefined : named.get(name);
      const matching = [...patterned].filter(([pattern]) => matched.has(pattern)).map(([, placed]) => placed);
      const all = own === undefined ? matching : [own, ...matching];
      return all.length > 0 ? all : additional;
    });
  }
}

/** Returns a member whose name isn't in the schema; null if there can be none. */
function othersOf(members: Members, allowed: Automaton | null, visitor: SchemaVisitor): Expression | null {
  const { layout } = visitor;
  const named = (name: Expression, schemas: readonly PlacedSchema[]) =>
    visitor.define(memberOf(name, layout, visitor.visit(schemas, layout.inside(null))));
  const isForbidden = (schemas: readonly PlacedSchema[]) => schemas.some(({ schema }) => schema === false);
  if (members.patterns.size === 0 && isForbidden(members.schemasMatching(new Set()))) return null;
  if (allowed === null && members.patterns.size + members.names.length === 0) {
    return named(quoted(ANY_TEXT, layout.names), members.schemasMatching(new Set()));
  }
  const known = members.names.length > 0 ? [Automaton.of(choice(...members.names.map(text)))] : [];
  const all = Automaton.inAll([allowed ?? Automaton.of(ANY_TEXT)], known);
  let classes = [{ names: all, matched: new Set<string>() }];
  for (const [pattern, matching] of members.patterns) {
    classes = classes.flatMap((one) => [
      { names: Automaton.inAll([one.names, matching]), matched: new Set([...one.matched, pattern]) },
      { names: Automaton.inAll([one.names], [matching]), matched: one.matched },
    ]);
    classes = classes.filter(({ names }) => !names.isEmpty);
    if (classes.length > MAX_CLASSES) throw new TooComplex();
  }
  const options = classes.flatMap(({ names, matched }) => {
    const schemas = members.schemasMatching(matched);
    if (isForbidden(schemas) || names.isEmpty) return [];
    const { mark } = layout.names;
    return [named(sequence(mark, names.inQuotes(layout.names), mark), schemas)];
  });
  return options.length === 0 ? null : visitor.define(choice(...options));
}
