import { Members } from "./json-object.ts";
import { oppositesOf, OWN_KEYWORDS } from "./keywords.ts";
import type { SchemaDocument } from "./schema-document.ts";
import { LEFT_OUT, NotHeld } from "./schema-left-out.ts";
import type { PlacedSchema, SchemaNode } from "./schema-node.ts";
import { literalsOf, typesOf } from "./schema-types.ts";
import { spend } from "./work.ts";

/** Schemas that must all be valid, of which only OWN_KEYWORDS count. */
export type Case = readonly SchemaNode[];

/** Keywords that evaluate properties, and may be left out. */
const EVALUATING = ["patternProperties", "if", "$dynamicRef", "$recursiveRef", "unevaluatedProperties"];
/** Keywords that evaluate properties by themselves. */
const EVALUATORS = ["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"];
const MAX_CASES = 1024;
/** How deep obvious contradictions are looked for. */
const DEPTH = 4;
/** Schemas for the same value within each other: more would overflow the stack. */
const MAX_WITHIN = 256;

/** Turns schemas that refer to and combine others into cases, of which a valid value fits at least one. */
export class SchemaCases {
  readonly #document: SchemaDocument;
  /** Schemas that were made from a node, by what they are. */
  readonly #made = new Map<string, object>();
  /** By depth and case. */
  readonly #contradictions = new Map<string, boolean>();
  /** By depth, and whether it matters what is evaluated: cases of the schemas that are known whatever they are a part of. */
  readonly #known = Array.from({ length: 2 * (DEPTH + 1) }, () => new Map<SchemaNode, readonly Case[]>());
  /** The outermost schema that was found to contain itself lately: how many it is a part of. */
  #outermost = Infinity;
  /** How deep in values contradictions are being looked for. */
  #depth = 0;

  constructor(document: SchemaDocument) {
    this.#document = document;
  }

  /** Returns the cases in which all of the schemas are valid. @param within the schemas around them, for the same value */
  of(schemas: readonly PlacedSchema[], within: readonly SchemaNode[] = []): Case[] {
    return schemas.reduce<Case[]>((cases, one) => this.#both(cases, () => this.#casesOf(one, within), one), [[]]);
  }

  /** Returns whether obviously no value fits the case. */
  #isContradiction(one: Case): boolean {
    const key = `${this.#depth} ${keyOf(one)}`;
    const known = this.#contradictions.get(key);
    if (known !== undefined) return known;
    if (literalsOf(one)?.length === 0) return true;
    if (this.#depth === DEPTH || typesOf(one).some((type) => type !== "object")) return false;
    this.#depth += 1;
    try {
      const members = new Members(one);
      const found = [...members.required].some((name) =>
        this.of(members.schemasOf(name)).every((inner) => this.#isContradiction(inner)),
      );
      this.#contradictions.set(key, found);
      return found;
    } finally {
      this.#depth -= 1;
    }
  }

  /** @param within the schemas that this one is a part of, for the same value */
  #casesOf(placed: PlacedSchema, within: readonly SchemaNode[]): readonly Case[] {
    if (placed.schema === true) return [[]];
    if (placed.schema === false) return [];
    const node = this.#document.nodeOf(placed);
    const isClosed = [...within, node].some(closes);
    const cases = this.#known[2 * this.#depth + Number(isClosed)];
    const known = cases?.get(node);
    if (known !== undefined) return known;
    if (within.includes(node)) {
      this.#outermost = Math.min(this.#outermost, within.indexOf(node));
      return []; // It would have to contain itself.
    }
    if (within.length > MAX_WITHIN) throw node.invalid("nested less deeply");
    const before = this.#outermost;
    this.#outermost = Infinity;
    const found = this.#casesOfNode(node, placed, within);
    const isWhole = this.#outermost >= within.length;
    if (isWhole) cases?.set(node, found);
    this.#outermost = Math.min(before, isWhole ? Infinity : this.#outermost);
    return found;
  }

  #casesOfNode(node: SchemaNode, placed: PlacedSchema, within: readonly SchemaNode[]): Case[] {
    const inside = [...within, node];
    if (!node.madeFor && within.some(({ madeFor }) => madeFor)) {
      // It is the negation of a negation, so it doesn't count for the schemas around.
      const around = within.find(closes);
      if (around) throw around.unsupported("unevaluatedProperties", "there is a not within a not; leave them out");
    }
    const casesOf = (one: PlacedSchema) => this.#casesOf(one, inside);
    const refersAlone = node.has("$ref") && this.#document.refersAlone;
    let cases: Case[] = !refersAlone && OWN_KEYWORDS.some((keyword) => node.has(keyword)) ? [[node]] : [[]];
    const and = (more: () => readonly Case[]) => {
      cases = this.#both(cases, more, placed);
    };
    for (const one of this.#referred(node)) and(() => casesOf(one));
    if (refersAlone) return cases;
    if (node.has("allOf")) for (const one of node.schemas("allOf")) and(() => casesOf(one));
    if (node.has("anyOf")) and(() => this.#anyOf(node.schemas("anyOf"), inside));
    if (node.has("oneOf")) and(() => this.#oneOf(node, cases, inside));
    if (node.has("not")) for (const one of node.schema("not")) and(() => casesOf(this.not(one, node.place("not"))));
    if (node.has("if") && (node.has("then") || node.has("else") || inside.some(closes))) {
      const [condition = { schema: true, path: node.path }] = node.schema("if");
      const branch = (first: PlacedSchema, keyword: string) => this.of([first, ...node.schema(keyword)], inside);
      and(() => [...branch(condition, "then"), ...branch(this.not(condition, node.place("if")), "else")]);
    }
    for (const keyword of ["dependencies", "dependentRequired", "dependentSchemas"]) {
      for (const [name, one] of node.named(keyword)) {
        const made = (what: string, schema: object) =>
          this.#placed(node, `${keyword} ${what} ${name}`, node.place(keyword), () => schema);
        const { schema } = one;
        const names = typeof schema === "string" ? [schema] : schema;
        const further = Array.isArray(names) ? made("of", { required: names }) : one;
        const present = made("present", { type: "object", required: [name] });
        const without = made("without", { properties: { [name]: false } });
        and(() => [...casesOf(without), ...this.of([present, further], inside)]);
      }
    }
    return closes(node) ? cases.map((one) => this.#closed(node, one)) : cases;
  }

  #referred(node: SchemaNode): PlacedSchema[] {
    const keywords = ["$ref", "$dynamicRef", "$recursiveRef"].filter((keyword) => node.has(keyword));
    return keywords.map((keyword) => this.#document.referred(node, keyword));
  }

  /**
   * Returns a case of a node's with what the node says of unevaluated properties. All of the case is within the node, and
   * evaluates properties unless it was made from a schema that fails.
   */
  #closed(node: SchemaNode, one: Case): Case {
    const evaluating = one.filter(({ madeFor }) => !madeFor);
    if (EVALUATING.some((keyword) => evaluating.some((part) => part.names(LEFT_OUT).includes(keyword))))
      throw node.unsupported("unevaluatedProperties", "keywords that it needs are left out");
    const takesAll = (part: SchemaNode) => part !== node && part.has("unevaluatedProperties");
    if (evaluating.some((part) => part.has("additionalProperties") || takesAll(part))) return one;
    const evaluated = (keyword: string) =>
      Object.fromEntries(evaluating.flatMap((part) => [...part.named(keyword).keys()].map((name) => [name, true])));
    const closing = this.#placed(node, `closing ${keyOf(evaluating)}`, node.place("unevaluatedProperties"), () => ({
      properties: evaluated("properties"),
      patternProperties: evaluated("patternProperties"),
      additionalProperties: node.get("unevaluatedProperties"),
    }));
    return [...one, this.#document.nodeOf(closing)];
  }

  /** Returns a schema that is made from a node, always the same one. @param madeFor the keyword that needs it */
  #placed(node: SchemaNode, what: string, madeFor: NotHeld["place"], make: () => object): PlacedSchema {
    const key = `${node.number} ${what}`;
    const schema = this.#made.get(key) ?? this.#document.adopt(make(), node, madeFor);
    this.#made.set(key, schema);
    return { schema, path: node.path };
  }

  /** Where it matters what is evaluated, schemas that do so are also valid together. */
  #anyOf(options: readonly PlacedSchema[], within: readonly SchemaNode[]): Case[] {
    const isClosed = within.some(closes);
    const evaluates = (one: Case) =>
      one.some((node) => !node.madeFor && EVALUATORS.some((keyword) => node.has(keyword)));
    return options.reduce<Case[]>((before, option) => {
      const own = this.#casesOf(option, within);
      const evaluating = isClosed ? own.filter(evaluates) : [];
      return [...before, ...own, ...this.#both(before.filter(evaluates), () => evaluating, option)];
    }, []);
  }

  /** Each case excludes the other schemas, unless they are apart anyway. @param beside what is valid, too */
  #oneOf(node: SchemaNode, beside: readonly Case[], within: readonly SchemaNode[]): Case[] {
    const options = node.schemas("oneOf");
    const cases = options.map((one) => this.#both(beside, () => this.#casesOf(one, within), one));
    const alive = cases.map((all) => all.filter((one) => !this.#isContradiction(one)));
    if (node.names(LEFT_OUT).includes("oneOf")) return alive.flat();
    return options.flatMap((_option, i) => {
      const overlapping = options.filter(
        (_other, j) => j !== i && alive[i]?.some((a) => alive[j]?.some((b) => !this.#areCasesApart(a, b))),
      );
      try {
        return overlapping.reduce<Case[]>(
          (all, other) => this.#both(all, () => this.#casesOf(this.not(other, node.place("oneOf")), within), other),
          alive[i] ?? [],
        );
      } catch (error) {
        if (!(error instanceof NotHeld)) throw error;
        throw node.unsupported("oneOf", "its schemas may overlap: use anyOf, or tell them apart by type or a const");
      }
    });
  }

  #areCasesApart(a: Case, b: Case): boolean {
    const both = [...new Set([...a, ...b])];
    return typesOf(both).length === 0 || this.#isContradiction(both);
  }

  /** Returns a schema that is valid where that one isn't. @param madeFor the keyword that needs it */
  not(one: PlacedSchema, madeFor: NotHeld["place"]): PlacedSchema {
    if (typeof one.schema === "boolean") return { schema: !one.schema, path: one.path };
    const node = this.#document.nodeOf(one);
    return this.#placed(node, "not", madeFor, () => {
      const referred = this.#referred(node).map(({ schema }) => ({ not: schema }));
      if (node.has("$ref") && this.#document.refersAlone) return { anyOf: referred };
      try {
        // Nothing is valid where no keyword says anything.
        return { anyOf: [...referred, ...oppositesOf(node), false] };
      } catch (error) {
        if (!(error instanceof NotHeld)) throw error;
        throw new NotHeld("unsupported_parameter", error.message, error.param ?? one.path, madeFor);
      }
    });
  }

  /** Returns the cases of both, without those that leave no type. */
  #both(cases: readonly Case[], more: () => readonly Case[], place: PlacedSchema): Case[] {
    if (cases.length === 0) return [];
    const found = new Map<string, Case>();
    const others = more();
    for (const a of cases) {
      for (const b of others) {
        const both = [...new Set([...a, ...b])];
        spend(1 + both.length);
        if (typesOf(both).length === 0) continue;
        found.set(keyOf(both), both);
        if (found.size > MAX_CASES) {
          throw this.#document
            .nodeOf(place)
            .invalid(`simpler: its anyOf, oneOf, if and not have more than ${MAX_CASES} cases together`);
        }
      }
    }
    return [...found.values()];
  }
}

/** Returns whether it matters for a schema which properties others evaluate. */
function closes(node: SchemaNode): boolean {
  return (node.get("unevaluatedProperties") ?? true) !== true;
}

/** Returns a text that cases of the same schemas share. */
export function keyOf(one: Case): string {
  return one
    .map(({ number }) => number)
    .toSorted((a, b) => a - b)
    .join();
}
