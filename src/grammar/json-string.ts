import { ANY_CHARACTER } from "./char-set.ts";
import { Automaton } from "./automaton.ts";
import { character, choice, hasPart, repeat, sequence, text, type Expression } from "./expression.ts";
import { formatLength, formatPattern } from "./formats.ts";
import { ANY_TEXT, quoted } from "./json-layout.ts";
import { parsePattern } from "./regex.ts";
import { largestCount, NOT_PATTERN, smallestCount, type SchemaNode, type SchemaVisitor } from "./schema-node.ts";
import { excludedLiterals } from "./schema-types.ts";

/** Returns a string that is valid under all of these schemas. @throws TooComplex */
export function stringOf(nodes: readonly SchemaNode[], { layout: { texts } }: SchemaVisitor): Expression {
  const { all, none, most } = textsOf(nodes);
  const [only, second] = all;
  if (only !== undefined && second === undefined && none.length === 0 && most === Infinity && isPlain(only))
    return quoted(only, texts);
  return sequence(texts.mark, languageOf(all, none).inQuotes(texts, most), texts.mark);
}

const isPlain = (one: Expression) => !hasPart(one, ({ kind }) => kind === "states");

/** Returns the names that are valid under a schema for them. @throws TooComplex */
export function namesOf(nodes: readonly SchemaNode[]): Automaton {
  const { all, none, most } = textsOf(nodes);
  return languageOf(most === Infinity ? all : [...all, lengths(0, most)], none);
}

const lengths = (min: number, max: number) =>
  min === 0 && max === Infinity ? ANY_TEXT : repeat(character(ANY_CHARACTER), min, max);

const languageOf = (all: readonly Expression[], none: readonly Expression[]) =>
  Automaton.inAll(all.map(Automaton.of), none.map(Automaton.of));

/** Returns what a text must match, one expression at least, and what it must not; and the most characters that it may have. */
function textsOf(nodes: readonly SchemaNode[]) {
  const min = largestCount(nodes, "minLength");
  const max = Math.min(smallestCount(nodes, "maxLength"), ...nodes.map(formatLength));
  const all = nodes.flatMap((node) => {
    const format = formatPattern(node);
    return [...patternsOf(node, "pattern"), ...(format === undefined ? [] : [parsePattern(format, node.path)])];
  });
  const literals = excludedLiterals(nodes).filter((value) => typeof value === "string");
  const none = [
    ...nodes.flatMap((node) => patternsOf(node, NOT_PATTERN)),
    ...(literals.length > 0 ? [choice(...literals.map(text))] : []),
  ];
  if (all.length + none.length === 0) return { all: [lengths(min, max)], none, most: Infinity };
  return { all: all.length === 0 || min > 0 ? [...all, lengths(min, Infinity)] : all, none, most: max };
}

function patternsOf(node: SchemaNode, keyword: string): Expression[] {
  const pattern = node.get(keyword);
  if (pattern === undefined) return [];
  if (typeof pattern !== "string") throw node.invalid("a regular expression", "pattern");
  return [node.holding(keyword, () => parsePattern(pattern, `${node.path}.pattern`))];
}
