import { ChorusError } from "../protocol/errors.ts";
import { BOOLEAN, JsonObject, LIST, OBJECT, STRING, type Kind } from "../protocol/json-object.ts";

/**
 * Typed access to the fields of one of a model's JSON files. null counts as absent, as in Hugging Face's files. Errors
 * name `file`: a file's name, or the name, a colon and a part of the file.
 * @throws ChorusError model_invalid, with file, field and value, if a field has another type
 */
export class JsonFields extends JsonObject {
  /** @param prefix of the fields' names in errors */
  constructor(file: string, json: unknown, prefix = "") {
    super(json, (name, expected, value) => {
      const what = name === null ? `${file} must hold a JSON object` : `${file}: ${prefix}${name} must be ${expected}`;
      return invalidFile(file, `${what}, not ${brief(value)}.`);
    });
  }

  readonly positiveNumber = <F>(name: string, fallback: F) => this.read(name, POSITIVE_NUMBER) ?? fallback;
  readonly nonNegativeInteger = <F>(name: string, fallback: F) => this.read(name, NON_NEGATIVE_INTEGER) ?? fallback;
  readonly nonNegativeNumber = <F>(name: string, fallback: F) => this.read(name, NON_NEGATIVE_NUMBER) ?? fallback;
  readonly fraction = <F>(name: string, fallback: F) => this.read(name, FRACTION) ?? fallback;
  readonly boolean = <F>(name: string, fallback: F) => this.read(name, BOOLEAN) ?? fallback;
  readonly string = <F>(name: string, fallback: F) => this.read(name, STRING) ?? fallback;
  readonly object = <F>(name: string, fallback: F) => this.read(name, OBJECT) ?? fallback;
  readonly array = <F>(name: string, fallback: F) => this.read(name, LIST) ?? fallback;

  /** Reads the first of these names that is present: in Hugging Face's configs some fields have two names. */
  positiveInteger<F>(names: readonly string[], fallback: F): number | F {
    const name = names.find((candidate) => this.has(candidate));
    return name === undefined ? fallback : (this.read(name, POSITIVE_INTEGER) ?? fallback);
  }

  /** Reads one id or a list of ids. Here null is a value: no ids. */
  tokenIds<F>(name: string, fallback: F): readonly number[] | F {
    const ids = this.isNull(name) ? [] : this.read(name, TOKEN_IDS);
    return typeof ids === "number" ? [ids] : (ids ?? fallback);
  }
}

export function invalidFile(file: string, sentence: string, options?: ErrorOptions): ChorusError {
  return new ChorusError("model_invalid", sentence, file.split(":")[0], options);
}

export function damagedFile(file: string, what: string, options?: ErrorOptions): ChorusError {
  return invalidFile(file, `${file} is damaged: ${what}.`, options);
}

export function unsupportedFile(file: string, sentence: string): ChorusError {
  return new ChorusError("model_unsupported", sentence, file);
}

const LONGEST_SHOWN = 100;

/** Abbreviates a file's value for an error message: it may be megabytes long, or nested too deeply for JSON.stringify. */
export function brief(value: unknown): string {
  let text: string;
  if (typeof value === "bigint") return String(value);
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = Array.isArray(value) ? "a list" : `a ${typeof value}`;
  }
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}...`;
}

const number = (words: string, is: (value: number) => boolean): Kind<number> => ({
  words,
  is: (value): value is number => Number.isFinite(value) && is(value as number),
});
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const NON_NEGATIVE_NUMBER = number("a number, 0 or greater", (value) => value >= 0);
const NON_NEGATIVE_INTEGER = number("an integer, 0 or greater", isCount);
const POSITIVE_NUMBER = number("a positive number", (value) => value > 0);
const POSITIVE_INTEGER = number("a positive integer", (value) => isCount(value) && value > 0);
const FRACTION = number("above 0 and at most 1", (value) => value > 0 && value <= 1);
const TOKEN_IDS: Kind<number | number[]> = {
  words: "a token id or a list of them",
  is: (value): value is number | number[] => isCount(value) || (Array.isArray(value) && value.every(isCount)),
};
