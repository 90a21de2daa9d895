import { ANY_CHARACTER } from "./char-set.ts";
import { Automaton } from "./automaton.ts";
import { character, choice, repeat, sequence, text, type Expression } from "./expression.ts";
import { formatLength, formatPattern } from "./formats.ts";
import { ANY_TEXT, quoted } from "./json-text.ts";
import { parsePattern, type Pattern } from "./regex.ts";
import { largestCount, NOT_PATTERN, smallestCount, type SchemaNode, type SchemaVisitor } from "./schema-node.ts";
import { excludedLiterals } from "./schema-types.ts";

/** Returns a string that is valid under all of these schemas. @throws TooComplex */
export function stringOf(nodes: readonly SchemaNode[], { layout: { texts } }: SchemaVisitor): Expression {
  const { all, none, most } = textsOf(nodes);
  const [only, second] = all;
  if (only !== undefined && second === undefined && none.length === 0 && most === Infinity) return quoted(only, texts);
  return sequence(texts.mark, languageOf({ all, none }).inQuotes(texts, most), texts.mark);
}

/** Returns the names that are valid under a schema for them. @throws TooComplex */
export function namesOf(nodes: readonly SchemaNode[]): Automaton {
  const { all, none, most } = textsOf(nodes);
  return languageOf({ all: most === Infinity ? all : [...all, lengths(0, most)], none });
}

const lengths = (min: number, max: number) =>
  min === 0 && max === Infinity ? ANY_TEXT : repeat(character(ANY_CHARACTER), min, max);

/** @throws TooComplex */
export function languageOf({ all, none }: Pattern): Automaton {
  return Automaton.inAll(all.map(Automaton.of), none.map(Automaton.of));
}

/** What a text must match, and the most characters that it may have. */
function textsOf(nodes: readonly SchemaNode[]): Pattern & { readonly most: number } {
  const min = largestCount(nodes, "minLength");
  const max = Math.min(smallestCount(nodes, "maxLength"), ...nodes.map((node) => formatLength(node.get("format"))));
  const patterns = nodes.flatMap((node) => {
    const format = formatPattern(node.get("format"));
    return [
      ...(node.has("pattern") ? [patternOf(node, "pattern")] : []),
      ...(format === undefined ? [] : [parsePattern(format, `${node.path}.format`)]),
    ];
  });
  const literals = excludedLiterals(nodes).filter((value) => typeof value === "string");
  const none = [
    ...patterns.flatMap((one) => one.none),
    ...nodes.flatMap((node) => (node.has(NOT_PATTERN) ? [excludedPattern(node)] : [])),
    ...(literals.length > 0 ? [choice(...literals.map(text))] : []),
  ];
  const all = patterns.flatMap((one) => one.all);
  if (all.length + none.length === 0) return { all: [lengths(min, max)], none, most: Infinity };
  return { all: all.length === 0 || min > 0 ? [...all, lengths(min, Infinity)] : all, none, most: max };
}

function excludedPattern(node: SchemaNode): Expression {
  const { all, none } = patternOf(node, NOT_PATTERN);
  const [only, second] = all;
  if (only !== undefined && second === undefined && none.length === 0) return only;
  throw node.unsupported(NOT_PATTERN, "a pattern that looks ahead can't be excluded");
}

function patternOf(node: SchemaNode, keyword: string): Pattern {
  const pattern = node.get(keyword);
  if (typeof pattern !== "string") throw node.at("pattern").invalid("a regular expression");
  return node.holding(keyword, () => parsePattern(pattern, `${node.path}.pattern`));
}
