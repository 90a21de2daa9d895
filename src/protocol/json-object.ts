// Reads objects that somebody else wrote: a request, a model's file, a recording. Whoever reads says how wrong values are refused.

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The kind of a field's value, for errors and as a check. */
export interface Kind<T = unknown> {
  readonly words: string;
  readonly is: (value: unknown) => value is T;
}

export const STRING: Kind<string> = { words: "a string", is: (value) => typeof value === "string" };
export const BOOLEAN: Kind<boolean> = { words: "true or false", is: (value) => typeof value === "boolean" };
export const NUMBER: Kind<number> = { words: "a number", is: (value) => typeof value === "number" };
export const INTEGER: Kind<number> = { words: "an integer", is: (value): value is number => Number.isInteger(value) };
export const OBJECT: Kind<Record<string, unknown>> = { words: "an object", is: isObject };
export const LIST: Kind<readonly unknown[]> = { words: "a list", is: (value) => Array.isArray(value) };

/** Typed access to an object's own fields. null and undefined are absent. */
export class JsonObject {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #refusal: (name: string | null, expected: string, value: unknown) => Error;

  /** @param refusal makes the error of a field, or of the whole (null) */
  constructor(value: unknown, refusal: (name: string | null, expected: string, value: unknown) => Error) {
    if (!isObject(value)) throw refusal(null, OBJECT.words, value);
    this.#object = value;
    this.#refusal = refusal;
  }

  /** Returns the names of all fields that are not absent. */
  names(): string[] {
    return Object.keys(this.#object).filter((name) => this.has(name));
  }

  /** Returns the first field with another name, be it null. */
  otherThan(known: readonly string[]): string | undefined {
    return Object.keys(this.#object).find((name) => !known.includes(name) && this.#object[name] !== undefined);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Returns whether the field is null, for the few fields where null has a meaning. */
  isNull(name: string): boolean {
    return Object.hasOwn(this.#object, name) && this.#object[name] === null;
  }

  /** Returns the field unchecked; undefined if it is absent. */
  get(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? (this.#object[name] ?? undefined) : undefined;
  }

  read<T>(name: string, { words, is }: Kind<T>): T | undefined {
    const value = this.get(name);
    if (value === undefined || is(value)) return value;
    throw this.#refusal(name, words, value);
  }
}
