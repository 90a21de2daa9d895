import { ChorusError } from "../../index.ts";

/** Reads untrusted plain data. Every error names the place: "panes[2].turns[0].answer". */
export class JsonReader {
  readonly path: string;
  readonly #value: unknown;

  constructor(value: unknown, path = "") {
    this.#value = value;
    this.path = path;
  }

  field(name: string): JsonReader {
    return new JsonReader((this.object() as Record<string, unknown>)[name], this.path ? `${this.path}.${name}` : name);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.object(), name);
  }

  /** @throws ChorusError invalid_type, like the other readers */
  object(): object {
    if (typeof this.#value === "object" && this.#value !== null && !Array.isArray(this.#value)) return this.#value;
    throw this.wrong("an object");
  }

  list(): JsonReader[] {
    if (!Array.isArray(this.#value)) throw this.wrong("a list");
    return this.#value.map((item, index) => new JsonReader(item, `${this.path}[${index}]`));
  }

  string(): string {
    if (typeof this.#value === "string") return this.#value;
    throw this.wrong("a text");
  }

  /** Returns a whole number in `from` .. `to`. */
  integer(from: number, to: number): number {
    const value = this.#value;
    if (typeof value === "number" && Number.isInteger(value) && value >= from && value <= to) return value;
    throw this.wrong(from === to ? `${from}` : `a whole number from ${from} to ${to}`);
  }

  oneOf<Value extends string>(values: readonly Value[]): Value {
    const found = values.find((value) => value === this.#value);
    if (found !== undefined) return found;
    throw this.wrong(values.map((value) => `"${value}"`).join(" or "));
  }

  orNull<Value>(read: (reader: this) => Value): Value | null {
    return this.#value === null ? null : read(this);
  }

  wrong(expected: string): ChorusError {
    const isMissing = this.#value === undefined;
    const where = this.path || "The whole";
    const message = isMissing ? `${where} is missing.` : `${where} must be ${expected}.`;
    return new ChorusError(isMissing ? "missing_required_parameter" : "invalid_type", message, this.path || null);
  }
}
