import { ChorusError } from "../protocol/errors.ts";

/**
 * Typed access to the fields of one of a model's JSON files. null counts as absent, as in Hugging Face's files. Errors
 * name `file`: a file's name, or the name, a colon and a part of the file.
 * @throws ChorusError model_invalid, with file, field and value, if a field has another type
 */
export class JsonFields {
  readonly #file: string;
  readonly #json: Record<string, unknown>;

  constructor(file: string, json: unknown) {
    if (!isObject(json)) {
      throw invalid(file, `${file} must hold a JSON object, not ${brief(json)}`);
    }
    this.#file = file;
    this.#json = json;
  }

  has(name: string): boolean {
    return (this.get(name) ?? null) !== null;
  }

  /** Returns the field unchecked; undefined if it is absent. */
  get(name: string): unknown {
    return Object.hasOwn(this.#json, name) ? this.#json[name] : undefined;
  }

  /** Reads the first of these names that is present: in Hugging Face's configs some fields have two names. */
  positiveInteger<F>(names: readonly string[], fallback: F): number | F {
    const name = names.find((candidate) => this.has(candidate));
    return name === undefined ? fallback : this.#read(name, isPositiveInteger, "a positive integer", fallback);
  }

  positiveNumber<F>(name: string, fallback: F): number | F {
    return this.#read(name, isPositiveNumber, "a positive number", fallback);
  }

  nonNegativeInteger<F>(name: string, fallback: F): number | F {
    return this.#read(name, isNonNegativeInteger, "an integer, 0 or greater", fallback);
  }

  /** Reads a number in (0, 1]. */
  fraction<F>(name: string, fallback: F): number | F {
    return this.#read(name, isFraction, "above 0 and at most 1", fallback);
  }

  nonNegativeNumber<F>(name: string, fallback: F): number | F {
    return this.#read(name, isNonNegativeNumber, "a number, 0 or greater", fallback);
  }

  boolean<F>(name: string, fallback: F): boolean | F {
    return this.#read(name, isBoolean, "true or false", fallback);
  }

  string<F>(name: string, fallback: F): string | F {
    return this.#read(name, isString, "a string", fallback);
  }

  object<F>(name: string, fallback: F): Record<string, unknown> | F {
    return this.#read(name, isObject, "an object", fallback);
  }

  array<F>(name: string, fallback: F): readonly unknown[] | F {
    return this.#read(name, isArray, "a list", fallback);
  }

  /** Reads one id or a list of ids. Here null is a value: no ids. */
  tokenIds<F>(name: string, fallback: F): readonly number[] | F {
    if (this.get(name) === null) return [];
    const ids = this.#read(name, isTokenIds, "a token id or a list of them", fallback);
    return typeof ids === "number" ? [ids] : ids;
  }

  #read<T, F>(name: string, is: (value: unknown) => value is T, expected: string, fallback: F): T | F {
    if (!this.has(name)) return fallback;
    const value = this.get(name);
    if (is(value)) return value;
    throw invalid(this.#file, `${this.#file}: ${name} must be ${expected}, not ${brief(value)}`);
  }
}

function invalid(file: string, what: string): ChorusError {
  return new ChorusError("model_invalid", `${what}.`, file.split(":")[0]);
}

const LONGEST_SHOWN = 100;

/** Abbreviates a file's value for an error message: it may be megabytes long, or nested too deeply for JSON.stringify. */
export function brief(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = Array.isArray(value) ? "a list" : `a ${typeof value}`;
  }
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}...`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const isArray = (value: unknown): value is unknown[] => Array.isArray(value);
const isString = (value: unknown): value is string => typeof value === "string";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isNonNegativeNumber = (value: unknown): value is number => Number.isFinite(value) && (value as number) >= 0;
const isPositiveNumber = (value: unknown): value is number => isNonNegativeNumber(value) && value > 0;
const isFraction = (value: unknown): value is number => isPositiveNumber(value) && value <= 1;
const isPositiveInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
const isNonNegativeInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isTokenIds = (value: unknown): value is number | number[] =>
  isNonNegativeInteger(value) || (isArray(value) && value.every(isNonNegativeInteger));
