// Building blocks for checks of a caller's input. Errors name the field by its path ("messages[2].content").

import { ChorusError } from "../protocol/errors.ts";
import { BOOLEAN, INTEGER, JsonObject, LIST, NUMBER, STRING } from "../protocol/json-object.ts";
import { nearestName } from "./nearest-name.ts";

export function quote(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" || typeof value === "symbol" ? `a ${typeof value}` : String(value);
}

export function invalidType(param: string | null, expected: string, value: unknown): ChorusError {
  const message = `${param ?? "The request body"} must be ${expected}, not ${quote(value)}.`;
  return new ChorusError("invalid_type", message, param);
}

export function invalidValue(param: string, expected: string, value: unknown): ChorusError {
  return refused(param, `${param} must be ${expected}, not ${quote(value)}.`);
}

/** Returns the error of a value that the sentence refuses. */
export function refused(param: string, sentence: string): ChorusError {
  return new ChorusError("invalid_value", sentence, param);
}

export function unsupported(param: string, sentence: string): ChorusError {
  return new ChorusError("unsupported_parameter", sentence, param);
}

export function missing(param: string): ChorusError {
  return new ChorusError("missing_required_parameter", `${param} is missing.`, param);
}

/** Both ends are inclusive, unless `above` excludes `min`. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly above?: boolean;
}

export class Fields extends JsonObject {
  readonly #prefix: string;

  /** @param path of the object itself; null for the outermost */
  constructor(value: unknown, path: string | null = null) {
    const prefix = path === null ? "" : `${path}.`;
    super(value, (name, expected, wrong) => invalidType(name === null ? path : prefix + name, expected, wrong));
    this.#prefix = prefix;
  }

  path(name: string): string {
    return this.#prefix + name;
  }

  /** Returns a field's value, read before. @throws ChorusError missing_required_parameter if it is absent */
  needed<T>(name: string, value: T | undefined): T {
    if (value === undefined) throw missing(this.path(name));
    return value;
  }

  /** Returns whether the field says anything: clients send empty lists where they mean nothing. */
  says(name: string): boolean {
    const value = this.get(name);
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  }

  /**
   * @param alsoKnown names that other checks handle
   * @throws ChorusError unknown_parameter for any other field, with the name that was probably meant.
   */
  refuseOthers(known: readonly string[], alsoKnown: readonly string[] = []): void {
    const all = [...known, ...alsoKnown];
    const unknown = this.otherThan(all);
    if (unknown === undefined) return;
    const near = nearestName(unknown, all);
    const hint = near === undefined ? `The known ones are ${known.join(", ")}` : `Did you mean ${near}`;
    const end = near === undefined ? "." : "?";
    const path = this.path(unknown);
    throw new ChorusError("unknown_parameter", `There is no field ${quote(path)}. ${hint}${end}`, path);
  }

  string(name: string): string | undefined {
    return this.read(name, STRING);
  }

  boolean(name: string): boolean | undefined {
    return this.read(name, BOOLEAN);
  }

  number(name: string, range: Range): number | undefined {
    return this.#inRange(name, this.read(name, NUMBER), range);
  }

  integer(name: string, range: Range): number | undefined {
    return this.#inRange(name, this.read(name, INTEGER), range);
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
    const values = this.read(name, LIST);
    // Read element by element: a sparse array must fail at its first hole.
    return values && Array.from(values, (value, i) => read(value, `${this.path(name)}[${i}]`));
  }

  #inRange(name: string, value: number | undefined, range: Range): number | undefined {
    if (value === undefined) return value;
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
