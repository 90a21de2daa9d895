// Filters, tests and methods of Jinja that @huggingface/jinja lacks, or that differ from Python's there.

import {
  areEqual,
  booleanValue,
  contains,
  elementsOf,
  floatValue,
  formatted,
  isIterable,
  isTrue,
  isUndefined,
  listValue,
  NONE,
  numberValue,
  pairsOf,
  strOf,
  stripped,
  textValue,
  UNDEFINED,
  type Value,
} from "./jinja-values.ts";

interface FilterCall {
  readonly args: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
  /** Applies a filter without arguments. */
  readonly apply: (filter: string, value: Value) => Value;
  readonly test: (name: string) => Test;
}

type Filter = (value: Value, call: FilterCall) => Value;
export type Test = (value: Value, ...args: Value[]) => boolean;

/** These take any value as a text, undefined as an empty one. */
export const TEXT_FILTERS: ReadonlySet<string> = new Set(["upper", "lower", "replace", "indent"]);
/** These take any value but a boolean as a text. */
export const NUMBER_FILTERS: ReadonlySet<string> = new Set(["int", "float"]);
/** These take whatever can be looped over as a list. */
export const LIST_FILTERS: ReadonlySet<string> = new Set(["sort", "unique"]);

const select =
  (keeps: boolean, byAttribute: boolean): Filter =>
  (value, { args, test }) => {
    const attribute = byAttribute ? args[0] : undefined;
    const [name, ...rest] = byAttribute ? args.slice(1) : args;
    const matches = name === undefined ? isTrue : test(strOf(name));
    const subject = (element: Value) => (attribute === undefined ? element : attributeOf(element, attribute));
    return listValue(elementsOf(value).filter((element) => matches(subject(element), ...rest) === keeps));
  };

type Rank = number | string;
/** By what a value is sorted: texts without regard to case, unless case_sensitive is set. */
const rankOf = ({ value }: Value, isCaseSensitive: Value | undefined): Rank =>
  typeof value === "string" && !isTrue(isCaseSensitive ?? UNDEFINED) ? value.toLowerCase() : (value as Rank);

const extreme =
  (isBetter: (a: Rank, b: Rank) => boolean): Filter =>
  (value, { args, named }) => {
    const attribute = args[1] ?? named.get("attribute");
    const rank = (one: Value) =>
      rankOf(attribute ? attributeOf(one, attribute) : one, args[0] ?? named.get("case_sensitive"));
    const elements = elementsOf(value);
    const best = (a: Value, b: Value) => (isBetter(rank(b), rank(a)) ? b : a);
    return elements.length === 0 ? UNDEFINED : elements.reduce(best);
  };

const sum: Filter = (value, { args, named }) => {
  const attribute = args[0] ?? named.get("attribute");
  const start = Number((args[1] ?? named.get("start"))?.value ?? 0);
  const numberOf = (one: Value) => Number((attribute ? attributeOf(one, attribute) : one).value);
  return numberValue(elementsOf(value).reduce((total, one) => total + numberOf(one), start));
};

const round: Filter = (value, { args, named }) => {
  const number = Number(value.value);
  const digits = Number((args[0] ?? named.get("precision"))?.value ?? 0);
  const method = strOf(args[1] ?? named.get("method") ?? textValue("common"));
  const scaled = number * 10 ** digits;
  if (method === "ceil" || method === "floor") return floatValue(Math[method](scaled) / 10 ** digits);
  if (method !== "common") throw new Error(`round knows no method "${method}"`);
  // What lies exactly between two goes to the even one.
  const isTie = Math.abs(scaled % 1) === 0.5 && Number.isInteger(number * 2 ** (digits + 1));
  return floatValue(isTie ? (2 * Math.round(scaled / 2)) / 10 ** digits : Number(number.toFixed(digits)));
};

const fallback: Filter = (value, { args, named }) => {
  const isMissing =
    isUndefined(value) || (isTrue(args[1] ?? named.get("boolean") ?? booleanValue(false)) && !isTrue(value));
  return isMissing ? (args[0] ?? named.get("default_value") ?? textValue("")) : value;
};

/** Longest row of `batch`. */
const MAX_ROW = 10_000;

const batch: Filter = (value, { args: [size, fill] }) => {
  const width = Number(size?.value);
  if (!(width >= 1 && width <= MAX_ROW)) throw new Error(`batch takes 1 to ${MAX_ROW} elements`);
  const elements = elementsOf(value);
  const rows = Array.from({ length: Math.ceil(elements.length / width) }, (_, i) => {
    const row = elements.slice(i * width, (i + 1) * width);
    return listValue(fill ? [...row, ...Array.from({ length: width - row.length }, () => fill)] : row);
  });
  return listValue(rows);
};

const dictsort: Filter = (value, { args, named }) => {
  const isTold = (at: number, name: string) => isTrue(args[at] ?? named.get(name) ?? UNDEFINED);
  const part = strOf(args[1] ?? named.get("by") ?? UNDEFINED) === "value" ? 1 : 0;
  const rank = (pair: readonly [Value, Value]) => rankOf(pair[part], args[0] ?? named.get("case_sensitive"));
  const sign = isTold(2, "reverse") ? -1 : 1;
  const pairs = pairsOf(value).toSorted((a, b) => sign * (rank(a) < rank(b) ? -1 : Number(rank(a) > rank(b))));
  return listValue(pairs.map(listValue));
};

const length: Filter = (value) => numberValue(elementsOf(value).length);

export const FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ["trim", (value, { args }) => textValue(stripped(strOf(value), "both", args[0] && strOf(args[0])))],
  ["string", (value) => textValue(strOf(value))],
  ["capitalize", (value) => textValue(capitalized(strOf(value)))],
  ["title", (value) => textValue(strOf(value).replace(/[^-\s({[<]+/g, capitalized))],
  ["format", (value, { args }) => textValue(formatted(strOf(value), args))],
  ["batch", batch],
  ["items", (value) => listValue(pairsOf(value).map(listValue))],
  ["dictsort", dictsort],
  ["default", fallback],
  ["d", fallback],
  ["length", length],
  ["count", length],
  ["first", (value) => elementsOf(value).at(0) ?? UNDEFINED],
  ["last", (value) => elementsOf(value).at(-1) ?? UNDEFINED],
  ["list", (value) => listValue(elementsOf(value))],
  [
    "reverse",
    (value) => {
      const elements = elementsOf(value).toReversed();
      return typeof value.value === "string" ? textValue(elements.map(strOf).join("")) : listValue(elements);
    },
  ],
  [
    "join",
    (value, { args, named }) => {
      const attribute = args[1] ?? named.get("attribute");
      const parts = elementsOf(value).map((one) => strOf(attribute ? attributeOf(one, attribute) : one));
      const separator = args[0] ?? named.get("d");
      return textValue(parts.join(separator ? strOf(separator) : ""));
    },
  ],
  [
    "map",
    (value, { args, named, apply }) => {
      const attribute = named.get("attribute");
      if (attribute === undefined && args.length !== 1)
        throw new Error("map needs an attribute, or one filter without arguments");
      const missing = named.get("default") ?? UNDEFINED;
      return listValue(
        elementsOf(value).map((element) => {
          if (attribute === undefined) return apply(strOf(args[0] ?? UNDEFINED), element);
          const found = attributeOf(element, attribute);
          return isUndefined(found) ? missing : found;
        }),
      );
    },
  ],
  ["select", select(true, false)],
  ["reject", select(false, false)],
  ["selectattr", select(true, true)],
  ["rejectattr", select(false, true)],
  ["sum", sum],
  ["max", extreme((a, b) => a > b)],
  ["min", extreme((a, b) => a < b)],
  ["round", round],
]);

const compare =
  (isRight: (a: number | string, b: number | string) => boolean): Test =>
  ({ value: a }, b) =>
    isRight(a as number | string, b?.value as number | string);
const equals: Test = (a, b) => areEqual(a, b ?? UNDEFINED);

export const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ["float", ({ type }) => type === "FloatValue"],
  ["number", ({ value }) => ["number", "boolean"].includes(typeof value)],
  ["iterable", (value) => isIterable(value)],
  ["eq", equals],
  ["equalto", equals],
  ["==", equals],
  ["ne", (a, b) => !equals(a, b ?? UNDEFINED)],
  ["in", (a, b) => contains(b ?? UNDEFINED, a) ?? (typeof b?.value === "string" && b.value.includes(strOf(a)))],
  ["gt", compare((a, b) => a > b)],
  ["ge", compare((a, b) => a >= b)],
  ["lt", compare((a, b) => a < b)],
  ["le", compare((a, b) => a <= b)],
]);

type Method = (text: string, args: readonly Value[]) => Value;

const strip =
  (ends: "both" | "left" | "right"): Method =>
  (text, [characters]) =>
    textValue(stripped(text, ends, typeof characters?.value === "string" ? characters.value : undefined));

export const TEXT_METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["strip", strip("both")],
  ["lstrip", strip("left")],
  ["rstrip", strip("right")],
  ["capitalize", (text) => textValue(capitalized(text))],
  ["find", (text, [part]) => numberValue(text.indexOf(strOf(part ?? UNDEFINED)))],
  ["rfind", (text, [part]) => numberValue(text.lastIndexOf(strOf(part ?? UNDEFINED)))],
  ["count", (text, [part]) => numberValue(text.split(strOf(part ?? UNDEFINED)).length - 1)],
  ["isdigit", (text) => booleanValue(/^\p{Nd}+$/u.test(text))],
  [
    "splitlines",
    (text) =>
      listValue(
        text
          .replace(/\r\n?|\n$/g, (end) => (end === "\n" ? "" : "\n"))
          .split("\n")
          .map(textValue),
      ),
  ],
  [
    "join",
    (text, [list]) =>
      textValue(
        elementsOf(list ?? UNDEFINED)
          .map(strOf)
          .join(text),
      ),
  ],
]);

/** Of these names `object.name` is the method, and `object["name"]` the field. */
export const OBJECT_METHODS: ReadonlyMap<string, (object: Value, args: readonly Value[]) => Value> = new Map([
  ["items", (object: Value) => listValue(pairsOf(object).map(listValue))],
  ["keys", (object: Value) => listValue(elementsOf(object))],
  ["values", (object: Value) => listValue(pairsOf(object).map(([, field]) => field))],
  [
    "get",
    ({ value }: Value, [name, missing = NONE]: readonly Value[]) =>
      (value as unknown as ReadonlyMap<unknown, Value>).get(name?.value) ?? missing,
  ],
]);

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
}

/** Returns what a path such as "function.name" leads to. */
function attributeOf(value: Value, path: Value): Value {
  return strOf(path)
    .split(".")
    .reduce<Value>((found, name) => {
      const content: unknown = found.value;
      if (content instanceof Map) return (content.get(name) as Value | undefined) ?? UNDEFINED;
      return (Array.isArray(content) ? (content as Value[]).at(Number(name)) : undefined) ?? UNDEFINED;
    }, value);
}
