import { isObject } from "../protocol/json-object.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { Expression } from "./expression.ts";

/** Makes the grammars of a schema's parts. */
export interface SchemaVisitor {
  visit(schema: unknown, path: string): Expression;
  /** Any JSON value. */
  anyValue(): Expression;
  /** Makes the expression a separate rule that others can refer to. */
  define(body: Expression): Expression;
}

/** A schema that is an object, with its place. */
export class SchemaNode {
  readonly path: string;
  readonly #object: Record<string, unknown>;

  constructor(schema: unknown, path: string) {
    this.path = path;
    if (!isObject(schema)) {
      throw new ChorusError("invalid_type", `${path} must be a JSON schema: an object, true or false.`, path);
    }
    this.#object = schema;
  }

  has(keyword: string): boolean {
    return this.get(keyword) !== undefined;
  }

  get(keyword: string): unknown {
    return Object.hasOwn(this.#object, keyword) ? this.#object[keyword] : undefined;
  }

  /** Returns a keyword's value, for errors about it. */
  at(keyword: string): { invalid(expected: string): ChorusError } {
    const path = `${this.path}.${keyword}`;
    return { invalid: (expected) => new ChorusError("invalid_value", `${path} must be ${expected}.`, path) };
  }

  invalid(expected: string): ChorusError {
    return new ChorusError("invalid_value", `${this.path} must be ${expected}.`, this.path);
  }

  /** @param instead what to write instead */
  unsupported(keyword: string, instead: string): ChorusError {
    const path = `${this.path}.${keyword}`;
    return new ChorusError("unsupported_parameter", `${path} is not supported: ${instead}.`, path);
  }

  list(keyword: string): readonly unknown[] {
    const value = this.get(keyword);
    if (!Array.isArray(value) || value.length === 0) throw this.at(keyword).invalid("a list that is not empty");
    return value;
  }

  number(keyword: string): number | undefined {
    const value = this.get(keyword);
    if (value === undefined || (typeof value === "number" && Number.isFinite(value))) return value;
    throw this.at(keyword).invalid("a number");
  }

  /** Reads a count of characters, elements or properties. @param most limit that keeps the grammar small */
  count(keyword: string, most: number): number | undefined {
    const value = this.get(keyword);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most) return value;
    throw this.at(keyword).invalid(`a whole number between 0 and ${most}`);
  }

  /** Refuses unknown and unsupported keywords: ignoring them would allow invalid answers. */
  refuseOthers(known: readonly string[]): void {
    const other = Object.keys(this.#object).find(
      (name) => !known.includes(name) && !name.startsWith("x-") && this.#object[name] !== undefined,
    );
    if (other === undefined) return;
    throw this.unsupported(
      other,
      `the supported keywords are ${known.filter((name) => !name.startsWith("$")).join(", ")}`,
    );
  }

  refuseBeside(keyword: string, allowed: readonly string[]): void {
    const other = Object.keys(this.#object).find(
      (name) => name !== keyword && !allowed.includes(name) && !name.startsWith("x-"),
    );
    if (other !== undefined) throw this.unsupported(other, `it stands beside ${keyword}; leave one of them out`);
  }
}
