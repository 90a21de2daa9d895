import { isObject } from "../protocol/json-object.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { Automaton } from "./automaton.ts";
import type { Expression } from "./expression.ts";
import type { Layout } from "./json-layout.ts";
import { NotHeld } from "./schema-left-out.ts";
import { TooComplex } from "./work.ts";

export interface PlacedSchema {
  readonly schema: unknown;
  readonly path: string;
}

/** Makes the grammars of a schema's parts. */
export interface SchemaVisitor {
  readonly layout: Layout;
  /** Values that are valid under all of these schemas. @param layout [this one] */
  visit(schemas: readonly PlacedSchema[], layout?: Layout): Expression;
  /** Returns a schema that is valid where that one isn't. @param madeFor the keyword that needs it */
  negated(one: PlacedSchema, madeFor: NotHeld["place"]): PlacedSchema;
  /** Returns all values that are valid under all of these schemas, each once, if they are listed somewhere. */
  literals(schemas: readonly PlacedSchema[]): readonly unknown[] | undefined;
  /** Returns the texts that are valid under all of these schemas. */
  names(schemas: readonly PlacedSchema[]): Automaton;
  /** Makes the expression a separate rule that others can refer to. */
  define(body: Expression): Expression;
  /** Makes a rule once, before its expression, which may refer to it. */
  refer(key: string, make: () => Expression): Expression;
}

/** Written by keywords.ts only: values, and a pattern, that a value must not have, and that a number has decimals. */
export const NOT_ENUM = "\0notEnum";
export const NOT_PATTERN = "\0notPattern";
export const NOT_INTEGER = "\0notInteger";

/** Draft 4's exclusive bounds are true or false, and say how the others are meant. */
const BOUNDS: Readonly<Record<string, string>> = { exclusiveMinimum: "minimum", exclusiveMaximum: "maximum" };

/** A schema that is an object, with its place. */
export class SchemaNode {
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>>;
  /** Tells the document's nodes apart. */
  readonly number: number;
  /** The address that its references begin at. */
  readonly base: string;
  /** Of a schema that isn't in the document: the keyword there that it was made for. */
  readonly madeFor: NotHeld["place"] | undefined;

  readonly #unread: ReadonlySet<string>;

  /** @param unread keywords that its draft doesn't have @throws ChorusError invalid_type */
  constructor(
    schema: unknown,
    path: string,
    number: number,
    base: string,
    unread: ReadonlySet<string>,
    madeFor?: NotHeld["place"],
  ) {
    this.#unread = unread;
    this.path = path;
    this.number = number;
    this.base = base;
    this.madeFor = madeFor;
    if (!isObject(schema)) {
      throw new ChorusError("invalid_type", `${path} must be a JSON schema: an object, true or false.`, path);
    }
    this.object = schema;
  }

  has(keyword: string): boolean {
    return this.get(keyword) !== undefined;
  }

  get(keyword: string): unknown {
    if (this.#unread.has(keyword) || !Object.hasOwn(this.object, keyword)) return undefined;
    const value = this.object[keyword];
    const bound = typeof value === "boolean" ? BOUNDS[keyword] : undefined;
    if (bound === undefined) return value;
    return value === true ? this.object[bound] : undefined;
  }

  /** @param keyword whose value it is [the whole schema] */
  invalid(expected: string, keyword?: string): ChorusError {
    const path = keyword === undefined ? this.path : `${this.path}.${keyword}`;
    return new ChorusError("invalid_value", `${path} must be ${expected}.`, path);
  }

  unsupported(keyword: string, instead: string): NotHeld {
    const path = keyword.startsWith("\0") ? this.path : `${this.path}.${keyword}`;
    return new NotHeld("unsupported_parameter", `${path} is not supported: ${instead}.`, path, this.place(keyword));
  }

  /** Returns what must be left out where a keyword of this schema can't be held. */
  place(keyword: string): NotHeld["place"] {
    return this.madeFor ?? { node: this, keyword };
  }

  /** Returns what is made of a keyword. @throws NotHeld */
  holding<T>(keyword: string, make: () => T): T {
    try {
      return make();
    } catch (error) {
      if (error instanceof TooComplex) throw this.unsupported(keyword, "it is too much; use a simpler one");
      if (!(error instanceof ChorusError)) throw error;
      const code = error.code === "unsupported_parameter" ? error.code : "invalid_value";
      throw new NotHeld(code, error.message, error.param ?? this.path, this.place(keyword));
    }
  }

  list(keyword: string): readonly unknown[] {
    const value = this.get(keyword);
    if (!Array.isArray(value) || value.length === 0) throw this.invalid("a list that is not empty", keyword);
    return value;
  }

  finite(keyword: string): number | undefined {
    const value = this.get(keyword);
    if (value === undefined || (typeof value === "number" && Number.isFinite(value))) return value;
    throw this.invalid("a number", keyword);
  }

  /** Reads a count of characters, elements or properties. */
  count(keyword: string): number | undefined {
    const value = this.get(keyword);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
    throw this.invalid("a whole number, 0 or more", keyword);
  }

  schemas(keyword: string): PlacedSchema[] {
    return this.list(keyword).map((schema, i) => ({ schema, path: `${this.path}.${keyword}[${i}]` }));
  }

  /** Returns the schema in a keyword; none without the keyword. */
  schema(keyword: string): PlacedSchema[] {
    return this.has(keyword) ? [{ schema: this.get(keyword), path: `${this.path}.${keyword}` }] : [];
  }

  named(keyword: string): Map<string, PlacedSchema> {
    const value = this.get(keyword) ?? {};
    if (!isObject(value)) throw this.invalid("an object of schemas", keyword);
    return new Map(
      Object.entries(value).map(([name, schema]) => [name, { schema, path: `${this.path}.${keyword}.${name}` }]),
    );
  }

  names(keyword: string): readonly string[] {
    const value = this.get(keyword) ?? [];
    // Up to draft 3 it was true or false, in the property itself.
    if (typeof value === "boolean") return [];
    if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
    throw this.invalid("a list of names", keyword);
  }
}

/** Returns an error about the first of these keywords that any of the schemas has. */
export function notHeld(nodes: readonly SchemaNode[], keywords: readonly string[], instead: string) {
  const keyword = keywords.find((one) => nodes.some((node) => node.has(one)));
  if (keyword !== undefined) return nodes.find((node) => node.has(keyword))?.unsupported(keyword, instead);
}

export function largestCount(nodes: readonly SchemaNode[], keyword: string): number {
  return nodes.reduce((most, node) => Math.max(most, node.count(keyword) ?? 0), 0);
}

export function smallestCount(nodes: readonly SchemaNode[], keyword: string): number {
  return nodes.reduce((least, node) => Math.min(least, node.count(keyword) ?? Infinity), Infinity);
}
