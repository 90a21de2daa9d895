import { ANY_CHARACTER } from "./char-set.ts";
import { Automaton, TooComplex } from "./automaton.ts";
import { character, choice, IMPOSSIBLE, repeat, sequence, text, type Expression } from "./expression.ts";
import { formatPattern } from "./formats.ts";
import { jsonString } from "./json-text.ts";
import { parsePattern } from "./regex.ts";
import { largestCount, NOT_PATTERN, smallestCount, type SchemaNode, type SchemaVisitor } from "./schema-node.ts";
import { excludedLiterals } from "./schema-types.ts";

/** Returns a string that is valid under all of these schemas. */
export function stringOf(nodes: readonly SchemaNode[], visitor: SchemaVisitor): Expression {
  const min = largestCount(nodes, "minLength");
  const max = smallestCount(nodes, "maxLength");
  if (min > max) return IMPOSSIBLE;
  const [first, ...others] = textsOf(nodes);
  const forbidden = forbiddenTexts(nodes);
  const bounded = within(first ?? repeat(character(ANY_CHARACTER), 0, Infinity), min, max);
  if (others.length + forbidden.length === 0 && bounded !== undefined) return jsonString(bounded);
  try {
    let language = Automaton.of(bounded ?? first ?? IMPOSSIBLE);
    if (bounded === undefined) others.push(repeat(character(ANY_CHARACTER), min, max));
    for (const one of others) language = language.intersection(Automaton.of(one));
    for (const one of forbidden) language = language.intersection(Automaton.of(one).complement());
    return sequence(text('"'), language.inJson(visitor.defineAll), text('"'));
  } catch (error) {
    throw refusal(error, nodes);
  }
}

/** Returns the names that are valid under a schema for them. */
export function namesOf(nodes: readonly SchemaNode[]): Automaton {
  try {
    const lengths = repeat(
      character(ANY_CHARACTER),
      largestCount(nodes, "minLength"),
      smallestCount(nodes, "maxLength"),
    );
    let language = Automaton.of(lengths);
    for (const one of textsOf(nodes)) language = language.intersection(Automaton.of(one));
    for (const one of forbiddenTexts(nodes)) language = language.intersection(Automaton.of(one).complement());
    return language;
  } catch (error) {
    throw refusal(error, nodes);
  }
}

function textsOf(nodes: readonly SchemaNode[]): Expression[] {
  return nodes.flatMap((node) => {
    const format = formatPattern(node.get("format"));
    return [
      ...(node.has("pattern") ? [patternOf(node, "pattern")] : []),
      ...(format === undefined ? [] : [parsePattern(format, `${node.path}.format`)]),
    ];
  });
}

function forbiddenTexts(nodes: readonly SchemaNode[]): Expression[] {
  const literals = excludedLiterals(nodes).filter((value) => typeof value === "string");
  return [
    ...nodes.flatMap((node) => (node.has(NOT_PATTERN) ? [patternOf(node, NOT_PATTERN)] : [])),
    ...(literals.length > 0 ? [choice(...literals.map(text))] : []),
  ];
}

function patternOf(node: SchemaNode, keyword: string): Expression {
  const pattern = node.get(keyword);
  if (typeof pattern !== "string") throw node.at("pattern").invalid("a regular expression");
  return parsePattern(pattern, `${node.path}.pattern`);
}

function refusal(error: unknown, nodes: readonly SchemaNode[]): unknown {
  if (!(error instanceof TooComplex)) return error;
  const node = nodes.find((one) => one.has("pattern")) ?? nodes[0];
  return node?.unsupported("pattern", "it is too much together with other patterns or lengths; leave one of them out");
}

/** Returns the texts of these lengths, where that needs no automaton; else undefined. */
function within(expression: Expression, min: number, max: number): Expression | undefined {
  const [shortest, longest] = lengthsOf(expression);
  if (min <= shortest && longest <= max) return expression;
  if (longest < min || shortest > max) return IMPOSSIBLE;
  const single = expression.kind === "sequence" || expression.kind === "choice" ? onlyPart(expression) : undefined;
  if (single !== undefined) return within(single, min, max);
  if (expression.kind !== "repeat" || lengthsOf(expression.of).some((length) => length !== 1)) return undefined;
  return repeat(expression.of, Math.max(expression.min, min), Math.min(expression.max, max));
}

function onlyPart(expression: Expression): Expression | undefined {
  const parts =
    expression.kind === "sequence" ? expression.parts : expression.kind === "choice" ? expression.options : [];
  return parts.length === 1 ? parts[0] : undefined;
}

function lengthsOf(expression: Expression): [shortest: number, longest: number] {
  switch (expression.kind) {
    case "text": {
      const { length } = Array.from(expression.text);
      return [length, length];
    }
    case "character":
      return [1, 1];
    case "sequence":
      return expression.parts.map(lengthsOf).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    case "choice": {
      const all = expression.options.map(lengthsOf);
      return [Math.min(...all.map(([low]) => low)), Math.max(...all.map(([, high]) => high))];
    }
    case "repeat": {
      const [shortest, longest] = lengthsOf(expression.of);
      return [shortest * expression.min, longest === 0 ? 0 : longest * expression.max];
    }
    case "rule":
      return [0, Infinity];
  }
}
