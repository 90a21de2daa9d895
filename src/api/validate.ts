// Building blocks for checks of a caller's input. Errors name the field by its path ("messages[2].content").

import { ChorusError } from "../protocol/errors.ts";
import { nearestName } from "./nearest-name.ts";

/** Formats a value for an error message. */
export function quote(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" || typeof value === "symbol" ? `a ${typeof value}` : String(value);
}

export function invalidType(param: string | null, expected: string, value: unknown): ChorusError {
  return new ChorusError(
    "invalid_type",
    `${param ?? "The request body"} must be ${expected}, not ${quote(value)}.`,
    param,
  );
}

export function invalidValue(param: string, expected: string, value: unknown): ChorusError {
  return new ChorusError("invalid_value", `${param} must be ${expected}, not ${quote(value)}.`, param);
}

export function missing(param: string): ChorusError {
  return new ChorusError("missing_required_parameter", `${param} is missing.`, param);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Both ends are inclusive, unless `above` excludes `min`. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly above?: boolean;
}

/** Typed access to the fields of an object that a caller gave. null and undefined are absent. */
export class Fields {
  readonly #object: Record<string, unknown>;
  readonly #prefix: string;

  /** @param path of the object itself; null for the outermost */
  constructor(value: unknown, path: string | null = null) {
    if (!isObject(value)) throw invalidType(path, "an object", value);
    this.#object = value;
    this.#prefix = path === null ? "" : `${path}.`;
  }

  path(name: string): string {
    return this.#prefix + name;
  }

  /** Names of all fields that are not absent. */
  names(): string[] {
    return Object.keys(this.#object).filter((name) => this.get(name) !== undefined);
  }

  /** Returns the field's value, or undefined if it is absent. */
  get(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? (this.#object[name] ?? undefined) : undefined;
  }

  /** Returns whether the field is null, for the few fields where null has a meaning. */
  isNull(name: string): boolean {
    return Object.hasOwn(this.#object, name) && this.#object[name] === null;
  }

  /**
   * @param alsoKnown names that other checks handle
   * @throws ChorusError unknown_parameter for any other field, with the name that was probably meant.
   */
  refuseOthers(known: readonly string[], alsoKnown: readonly string[] = []): void {
    const all = [...known, ...alsoKnown];
    const unknown = Object.keys(this.#object).find((name) => !all.includes(name) && this.#object[name] !== undefined);
    if (unknown === undefined) return;
    const near = nearestName(unknown, all);
    const hint = near === undefined ? `The known ones are ${known.join(", ")}` : `Did you mean ${near}`;
    const end = near === undefined ? "." : "?";
    throw new ChorusError(
      "unknown_parameter",
      `There is no field ${quote(this.path(unknown))}. ${hint}${end}`,
      this.path(unknown),
    );
  }

  string(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === "string") return value;
    throw invalidType(this.path(name), "a string", value);
  }

  boolean(name: string): boolean | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw invalidType(this.path(name), "true or false", value);
  }

  number(name: string, range: Range): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "number") throw invalidType(this.path(name), "a number", value);
    return this.#inRange(name, value, range);
  }

  integer(name: string, range: Range): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (!Number.isInteger(value)) throw invalidType(this.path(name), "an integer", value);
    return this.#inRange(name, value as number, range);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const value = this.string(name);
    const found = allowed.find((one) => one === value);
    if (value !== undefined && found === undefined) {
      throw invalidValue(this.path(name), `one of ${allowed.map(quote).join(", ")}`, value);
    }
    return found;
  }

  /** Calls `read` with each element and its path, and returns the results; undefined if the field is absent. */
  list<T>(name: string, read: (value: unknown, path: string) => T): T[] | undefined {
    const values = this.get(name);
    if (values === undefined) return undefined;
    if (!Array.isArray(values)) throw invalidType(this.path(name), "a list", values);
    // Read element by element: a sparse array must fail at its first hole.
    return Array.from(values, (value: unknown, i) => read(value, `${this.path(name)}[${i}]`));
  }

  #inRange(name: string, value: number, range: Range): number {
    const { min, max, above = false } = range;
    if (value >= min && value <= max && !(above && value === min)) return value;
    throw invalidValue(this.path(name), describe(range), value);
  }
}

function describe({ min, max, above = false }: Range): string {
  if (min === max) return `${min}`;
  if (max === Infinity) return above ? `above ${min}` : `at least ${min}`;
  return above ? `above ${min} and at most ${max}` : `between ${min} and ${max}`;
}
