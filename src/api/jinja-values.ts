// Values of Jinja as Python has them: how they print, compare and are looped over. @huggingface/jinja's are JavaScript's.

import { Environment, type Interpreter } from "@huggingface/jinja";

export type Value = ReturnType<Interpreter["evaluate"]>;

/** Returns what makes a value of the same type as the example's. The library does not export its types of values. */
function maker<T>(example: T): (content: T) => Value {
  const { constructor } = new Environment().set("example", example);
  return (content) => new (constructor as new (content: T) => Value)(content);
}

export const textValue = maker("");
export const booleanValue = maker(true);
export const listValue: (content: readonly Value[]) => Value = maker<readonly Value[]>([]);
/** @param content by names, which may be numbers */
export const objectValue = maker({}) as unknown as (content: ReadonlyMap<unknown, Value>) => Value;
export const functionValue = maker((_args: Value[]): Value => textValue(""));
const integerValue = maker(1);
export const floatValue = maker(0.5);
export const numberValue = (number: number): Value =>
  Number.isInteger(number) ? integerValue(number) : floatValue(number);
export const NONE: Value = maker(null)(null);
const undefinedValue = maker(undefined);
export const UNDEFINED: Value = undefinedValue(undefined);

export function isUndefined(value: Value): boolean {
  return value.type === "UndefinedValue";
}

/** Empty texts, lists and objects are false. */
export function isTrue(value: Value): boolean {
  const content: unknown = value.value;
  if (content instanceof Map) return content.size > 0;
  return Array.isArray(content) ? content.length > 0 : Boolean(content);
}

/** Returns Python's str(). Undefined is empty. */
export function strOf(value: Value): string {
  const content: unknown = value.value;
  return typeof content === "string" ? content : isUndefined(value) ? "" : reprOf(value);
}

function reprOf(value: Value): string {
  const content: unknown = value.value;
  if (typeof content === "string") return quoted(content);
  if (value.type === "NullValue") return "None";
  if (typeof content === "boolean") return content ? "True" : "False";
  if (content instanceof Map) {
    const fields = pairsOf(value).map(([name, field]) => `${reprOf(name)}: ${reprOf(field)}`);
    return `{${fields.join(", ")}}`;
  }
  if (!Array.isArray(content)) return value.toString();
  const elements = (content as Value[]).map(reprOf).join(", ");
  return value.type === "TupleValue" ? `(${elements})` : `[${elements}]`;
}

const ESCAPES = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\\", "\\\\"],
]);

/** As Python quotes a text in a list: in single quotes unless it has only those, and what can't be seen is escaped. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\'"\p{C}\p{Z}]/gu, (character) => {
    if (character === " " || character === `'` || character === `"`)
      return character === quote ? `\\${quote}` : character;
    const code = character.codePointAt(0) ?? 0;
    const [letter, digits] = code > 0xffff ? ["U", 8] : code > 0xff ? ["u", 4] : ["x", 2];
    return ESCAPES.get(character) ?? `\\${letter}${code.toString(16).padStart(digits, "0")}`;
  });
  return `${quote}${escaped}${quote}`;
}

/** Whether two values are equal in Python: by what is in them, and never a text and a number. */
export function areEqual(left: Value, right: Value): boolean {
  const [a, b] = [contentOf(left), contentOf(right)];
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((part, i) => areEqual(part as Value, b[i] as Value));
  }
  if (!(a instanceof Map)) return a === b && isUndefined(left) === isUndefined(right);
  const fields = [...(a as Map<string, Value>)];
  return (
    b instanceof Map &&
    a.size === b.size &&
    fields.every(([name, field]) => areEqual(field, (b.get(name) ?? UNDEFINED) as Value))
  );
}

/** True and 1 are equal. */
function contentOf(value: Value): unknown {
  const content: unknown = value.value;
  return typeof content === "boolean" ? Number(content) : content;
}

export function isIterable(value: Value): boolean {
  const content: unknown = value.value;
  return Array.isArray(content) || typeof content === "string" || content instanceof Map || isUndefined(value);
}

/** Returns what a loop goes through: elements, characters, names of fields; nothing of undefined. Throws for anything else. */
export function elementsOf(value: Value): readonly Value[] {
  if (!isIterable(value)) throw new Error(`${reprOf(value)} can't be looped over`);
  const content: unknown = value.value;
  if (Array.isArray(content)) return content as Value[];
  return content instanceof Map ? pairsOf(value).map(([name]) => name) : Array.from(strOf(value), textValue);
}

/** Returns an object's names and fields; none of anything else. */
export function pairsOf({ value: content }: Value): readonly (readonly [Value, Value])[] {
  if (!((content as unknown) instanceof Map)) return [];
  const nameOf = (name: unknown) => (typeof name === "number" ? numberValue(name) : textValue(String(name)));
  return Array.from(content as unknown as Map<unknown, Value>, ([name, field]) => [nameOf(name), field]);
}

/** Returns Python's `text % values`, of what %s, %d and %f stand for. */
export function formatted(text: string, values: readonly Value[]): string {
  const left = values.values();
  return text.replace(
    /%(?:%|(0?)(\d{0,2})(?:\.(\d))?([sdf]))/g,
    (whole, zero: string, width: string, digits: string | undefined, kind: string) => {
      if (whole === "%%") return "%";
      const { value } = left.next();
      if (value === undefined) throw new Error("there are fewer values than its format names");
      const number = Number(value.value);
      const one = kind === "s" ? strOf(value) : kind === "d" ? Math.trunc(number) : number.toFixed(Number(digits ?? 6));
      return String(one).padStart(Number(width), zero || " ");
    },
  );
}

/** Returns whether "in" finds an element; null: the container is undefined, or no container. */
export function contains(container: Value, element: Value): boolean | null {
  const content: unknown = container.value;
  if (Array.isArray(content)) return (content as Value[]).some((each) => areEqual(each, element));
  if (content instanceof Map) return content.has(element.value);
  return null;
}

/** White space of Python's strip(): Unicode's, and four separators. JavaScript's lacks U+0085 and has U+FEFF. */
const isSpace = (one: string) => /\p{White_Space}/u.test(one) || "\x1c\x1d\x1e\x1f".includes(one);
/** The halves of a character of two UTF-16 units. */
const SECOND_HALF = /[\uDC00-\uDFFF]/;

/** Returns a text without white space, or without the given characters, at its ends. */
export function stripped(text: string, ends: "both" | "left" | "right" = "both", characters?: string): string {
  const goes = (one: string) => (characters === undefined ? isSpace(one) : characters.includes(one));
  let start = 0;
  let end = text.length;
  const first = () => String.fromCodePoint(text.codePointAt(start) ?? 0);
  const last = () => text.slice(SECOND_HALF.test(text.charAt(end - 1)) ? end - 2 : end - 1, end);
  if (ends !== "right") while (start < end && goes(first())) start += first().length;
  if (ends !== "left") while (end > start && goes(last())) end -= last().length;
  return text.slice(start, end);
}
