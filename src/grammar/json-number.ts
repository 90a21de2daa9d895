import { Automaton } from "./automaton.ts";
import { codePoint } from "./char-set.ts";
import { equalTo, numbersWithin, type NumberBounds } from "./decimal-range.ts";
import type { Expression } from "./expression.ts";
import { parseRegex } from "./regex.ts";
import { NOT_INTEGER, type SchemaNode, type SchemaVisitor } from "./schema-node.ts";
import { excludedLiterals } from "./schema-types.ts";

/** Largest multiple, in units of its last decimal. */
const MAX_MULTIPLE = 1000;
const MAX_DECIMALS = 6;

export function numberOf(nodes: readonly SchemaNode[], type: "integer" | "number", visitor: SchemaVisitor): Expression {
  const bounds = boundsOf(nodes);
  const multiples = nodes.flatMap((node) =>
    node.has("multipleOf") ? [{ node, of: node.finite("multipleOf") ?? 1 }] : [],
  );
  const isInteger = type === "integer" || multiples.some(({ of }) => Number.isInteger(of));
  const others = multiples.filter(({ of }) => of !== 1 && !(isInteger && Number.isInteger(1 / of)));
  const excluded = excludedLiterals(nodes).filter((value) => typeof value === "number");
  const forbidden = [
    ...excluded.map(equalTo),
    ...(nodes.some((node) => node.has(NOT_INTEGER)) ? [Automaton.of(ANY_INTEGER)] : []),
  ];
  const isExact = others.length + forbidden.length > 0;
  const within = numbersWithin(bounds, isInteger, isExact);
  if (!isExact) return visitor.refer(`number ${isInteger} ${JSON.stringify(bounds)}`, () => within.expression);
  return Automaton.inAll([within, ...others.map(({ node, of }) => multiplesOf(of, node))], forbidden).expression;
}

const ANY_INTEGER = parseRegex("[-0-9]+(?:\\.0*)?", "integers");

/** @throws ChorusError for a multiple of too many digits */
function multiplesOf(multiple: number, node: SchemaNode): Automaton {
  let decimals = 0;
  while (decimals <= MAX_DECIMALS && !Number.isInteger(Number((multiple * 10 ** decimals).toPrecision(15))))
    decimals += 1;
  const units = Number((multiple * 10 ** decimals).toPrecision(15));
  if (!(multiple > 0)) throw node.invalid("a number above 0", "multipleOf");
  if (decimals > MAX_DECIMALS || units > MAX_MULTIPLE) {
    throw node.unsupported(
      "multipleOf",
      `it may have at most ${MAX_DECIMALS} decimals, and be at most ${MAX_MULTIPLE} of the last one`,
    );
  }
  // A state is the rest so far and the decimals so far, -1 before the point. What a number looks like is said elsewhere.
  const stateAt = (rest: number, at: number) => (at + 1) * units + rest;
  const edge = (letter: string, to: number) => ({ first: codePoint(letter), last: codePoint(letter), to });
  const digits = (rest: number, at: number) =>
    Array.from({ length: 10 }, (_, value) => edge(String(value), stateAt((rest * 10 + value) % units, at)));
  const states = [];
  for (let at = -1; at <= decimals; at++) {
    for (let rest = 0; rest < units; rest++) {
      const isEnd = (rest * 10 ** (decimals - Math.max(0, at))) % units === 0;
      const next = at < decimals ? digits(rest, at + 1) : [edge("0", stateAt(rest, at))];
      const whole = [...digits(rest, -1), edge("-", stateAt(rest, -1)), edge(".", stateAt(rest, 0))];
      states.push({ isEnd, edges: at < 0 ? whole : next });
    }
  }
  return new Automaton(states);
}

function boundsOf(nodes: readonly SchemaNode[]): NumberBounds {
  const largest = (keyword: string) => Math.max(...nodes.map((node) => node.finite(keyword) ?? -Infinity));
  const smallest = (keyword: string) => Math.min(...nodes.map((node) => node.finite(keyword) ?? Infinity));
  const [minimum, exclusiveMinimum] = [largest("minimum"), largest("exclusiveMinimum")];
  const [maximum, exclusiveMaximum] = [smallest("maximum"), smallest("exclusiveMaximum")];
  return { minimum, maximum, exclusiveMinimum, exclusiveMaximum };
}
