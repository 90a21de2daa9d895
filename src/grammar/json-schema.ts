// JSON schemas as grammars. Every text of the grammar is valid under the schema. Of the valid values those have a text in it
// whose properties are in the schema's order, and whose numbers have few enough digits. Words that no draft defines, and
// annotations, change nothing; a keyword of a draft that a grammar can't hold is an error that names its place, or is left
// out of a lenient schema, which takes all valid values and some others then.

import { isObject } from "../protocol/json-object.ts";
import type { AnswerWarning } from "../protocol/openai.ts";
import { choice, IMPOSSIBLE, rule, rulesFrom, text, type Expression, type Rules } from "./expression.ts";
import { Automaton } from "./automaton.ts";
import { arrayOf } from "./json-array.ts";
import { numberOf } from "./json-number.ts";
import { objectOf } from "./json-object.ts";
import { namesOf, stringOf } from "./json-string.ts";
import { ONE_LINE, written, type Layout } from "./json-layout.ts";
import { jsonText } from "./json-text.ts";
import { OWN_KEYWORDS } from "./keywords.ts";
import { Machine } from "./machine.ts";
import { Program } from "./program.ts";
import { leaveOut, LEFT_OUT, NotHeld } from "./schema-left-out.ts";
import { keyOf, SchemaCases, type Case } from "./schema-cases.ts";
import { SchemaDocument } from "./schema-document.ts";
import { NOT_ENUM, NOT_INTEGER, NOT_PATTERN, notHeld, type PlacedSchema, type SchemaVisitor } from "./schema-node.ts";
import { canonical, excludedLiterals, isOfType, literalsOf, typesOf, type TypeName } from "./schema-types.ts";
import { TooComplex } from "./work.ts";

/** A schema that is nested deeper counts as one that contains itself. */
const MAX_DEPTH = 64;
/** Schemas within each other, also by $ref: more would overflow the stack. */
const MAX_INSIDE = 256;
/** Rules that others refer to. */
const MAX_REFERRED = 20_000;

/** A grammar, and the keywords that are left out of it, with their places. */
export interface WrittenRules {
  readonly rules: Rules;
  readonly warnings: readonly AnswerWarning[];
}

/**
 * @param param the field with the schema, for errors and warnings
 * @param isLenient whether keywords that can't be held are left out
 * @throws ChorusError invalid_type, invalid_value, unsupported_parameter, naming the place in the schema
 */
export function jsonSchemaRules(schema: unknown, param: string, layout: Layout, isLenient: boolean): WrittenRules {
  const warnings: AnswerWarning[] = [];
  const own = isLenient ? structuredClone(schema) : schema;
  for (;;) {
    const numBefore = warnings.length;
    const rules = new Writer(own, param, layout, isLenient ? warnings : null).rules();
    if (warnings.length === numBefore) return { rules, warnings };
  }
}

class Writer implements SchemaVisitor {
  /** How values are written where it is now. */
  layout: Layout;
  readonly #root: PlacedSchema;
  readonly #document: SchemaDocument;
  readonly #cases: SchemaCases;
  /** Of a lenient schema: what it goes without. */
  readonly #warnings: AnswerWarning[] | null;
  /** Whether something was left out only now, so that other rules may need to be others. */
  #isStale = false;
  readonly #rules = new Map<string, Expression>();
  /** Names of rules that others refer to, by what they are. */
  readonly #referred = new Map<string, string>();
  #numInside = 0;

  constructor(schema: unknown, param: string, layout: Layout, warnings: AnswerWarning[] | null) {
    this.layout = layout;
    this.#warnings = warnings;
    this.#root = { schema, path: param };
    this.#document = new SchemaDocument(schema, param);
    this.#cases = new SchemaCases(this.#document);
  }

  rules(): Rules {
    this.#rules.set("root", IMPOSSIBLE); // its place is the first
    this.#rules.set("root", this.visit([this.#root]));
    return this.#rules;
  }

  define(body: Expression): Expression {
    const name = `rule${this.#rules.size}`;
    this.#rules.set(name, body);
    return rule(name);
  }

  refer(what: string, make: () => Expression): Expression {
    const key = `${this.layout.name} ${what}`;
    const known = this.#referred.get(key);
    if (known !== undefined) return rule(known);
    if (this.#referred.size >= MAX_REFERRED) throw new TooComplex();
    const name = `shared${this.#referred.size}`;
    this.#referred.set(key, name);
    this.#rules.set(name, IMPOSSIBLE);
    this.#rules.set(name, make());
    return rule(name);
  }

  visit(schemas: readonly PlacedSchema[], layout = this.layout): Expression {
    for (const { path, schema } of schemas) {
      if (this.#numInside > MAX_INSIDE || path.split(/[.[]/).length > MAX_DEPTH)
        throw this.#document.nodeOf({ schema, path }).invalid("nested less deeply");
    }
    this.#numInside += 1;
    const around = this.layout;
    this.layout = layout;
    try {
      return choice(...this.#cases.of(schemas).map((one) => this.refer(keyOf(one), () => this.#valuesOf(one))));
    } catch (error) {
      const leftOut = this.#warnings && error instanceof NotHeld ? leaveOut(error) : [];
      if (leftOut.length === 0) throw error;
      this.#warnings?.push(...leftOut);
      this.#isStale = true;
      return IMPOSSIBLE;
    } finally {
      this.#numInside -= 1;
      this.layout = around;
    }
  }

  negated(one: PlacedSchema, madeFor: NotHeld["place"]): PlacedSchema {
    return this.#cases.not(one, madeFor);
  }

  literals(schemas: readonly PlacedSchema[]): unknown[] | undefined {
    const all = this.#cases.of(schemas).map((one) => (isPlain(one) ? literalsOf(one) : undefined));
    if (!all.every((one) => one !== undefined)) return undefined;
    return [...new Map(all.flat().map((value) => [canonical(value), value])).values()];
  }

  names(schemas: readonly PlacedSchema[]): Automaton {
    const cases = this.#cases.of(schemas).filter((one) => typesOf(one).includes("string"));
    const languages = cases.map((one) => {
      const literals = literalsOf(one)?.filter((value) => typeof value === "string");
      const names = namesOf(one);
      return literals === undefined ? names : Automaton.inAll([names, Automaton.of(choice(...literals.map(text)))]);
    });
    return Automaton.inAny(languages);
  }

  #valuesOf(one: Case): Expression {
    const literals = literalsOf(one);
    const types = typesOf(one).filter((type) => literals?.some((value) => isOfType(value, type)) ?? true);
    const values = () => choice(...types.map((type) => holding(one, type, () => this.#ofType(one, type))));
    const spelled = (value: unknown) => written(value, this.layout);
    if (literals === undefined) return values();
    if (isPlain(one) || literals.length === 0) return choice(...literals.map(spelled));
    if (this.#isStale) return IMPOSSIBLE; // It can't be said what is accepted.
    const { layout } = this;
    this.layout = ONE_LINE; // as the literals are checked
    const machine = new Machine(new Program(rulesFrom(values(), this.#rules)));
    this.layout = layout;
    const accepted = literals.filter((value) => {
      const isAccepted = machine.accepts(jsonText(value));
      if (isAccepted || hasOneText(value)) return isAccepted;
      const keyword = one.some((node) => node.has("enum")) ? "enum" : "const";
      const node = one.find((other) => other.has(keyword));
      throw node?.unsupported(keyword, `${jsonText(value)} can't be checked against what is beside it; leave that out`);
    });
    return choice(...accepted.map(spelled));
  }

  #ofType(one: Case, type: TypeName): Expression {
    const structure =
      ["object", "array"].includes(type) && excludedLiterals(one).some((value) => isOfType(value, type));
    const excluding = structure ? one.find((node) => node.has(NOT_ENUM)) : undefined;
    if (excluding) throw excluding.unsupported(NOT_ENUM, `a single ${type} can't be excluded`);
    switch (type) {
      case "object":
        return objectOf(one, this);
      case "array":
        return arrayOf(one, this);
      case "string":
        return stringOf(one, this);
      case "integer":
      case "number":
        return numberOf(one, type, this);
      case "boolean":
      case "null": {
        const others = excludedLiterals(one);
        return choice(
          ...[true, false, null]
            .filter((value) => isOfType(value, type) && !others.includes(value))
            .map((value) => text(this.layout.word(value))),
        );
      }
    }
  }
}

/** By type: keywords to name where values of that type are too much for a grammar. */
const COSTLY: Partial<Record<TypeName, readonly string[]>> = {
  object: ["patternProperties", "propertyNames"],
  string: ["pattern", "format", NOT_PATTERN, NOT_ENUM],
  number: ["multipleOf", NOT_ENUM, NOT_INTEGER],
  integer: ["multipleOf", NOT_ENUM],
};

/** Returns what is made of a case's values of a type. @throws NotHeld where it is too much */
function holding(one: Case, type: TypeName, make: () => Expression): Expression {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    throw (
      notHeld(one, COSTLY[type] ?? [], "it is too much together with what is beside it; leave one of them out") ?? error
    );
  }
}

/** Keywords that leave values as they are listed. */
const LISTING = ["type", "const", "enum", NOT_ENUM, LEFT_OUT];

/** Returns whether a grammar has at most this text for a value: no other order of properties, no other digits. */
function hasOneText(value: unknown): boolean {
  if (typeof value === "number") return /^-?[0-9.]{1,15}$/.test(String(value));
  if (!Array.isArray(value) && !isObject(value)) return true;
  const parts = Object.values(value);
  return (Array.isArray(value) || parts.length < 2) && parts.every(hasOneText);
}

/** Returns whether the listed values need no look at other keywords. */
function isPlain(one: Case): boolean {
  return one.every((node) => OWN_KEYWORDS.every((keyword) => LISTING.includes(keyword) || !node.has(keyword)));
}
