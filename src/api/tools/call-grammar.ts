// The grammar of an answer under tools: what a model may write from its first token on.

import type { GrammarSource } from "../../grammar/grammar-source.ts";
import { CLOSING, OPENING } from "../../engine/text/reasoning-splitter.ts";
import type { JsonOptions } from "../structured-fields.ts";
import type { MarkedFormat } from "./marked-format.ts";
import type { ToolRequest } from "./tool-fields.ts";

/** A weak model may repeat a call for ever. */
const MAX_CALLS = 32;

type SchemaSource = Extract<GrammarSource, { readonly kind: "schema" }>;

const ANY_TEXT: SchemaSource = { kind: "schema", schema: { type: "string" }, param: "tools" };

/**
 * @param response of an answer that calls nothing; null: it is any text
 * @param thought whether a thought may come first, or has been opened already
 * @param options of the calls' arguments
 */
export function callGrammar(
  format: MarkedFormat,
  { tools, choice, isParallel }: ToolRequest,
  response: SchemaSource | null,
  thought: "may open" | "open" | "none",
  options: JsonOptions = {},
): GrammarSource {
  const { open, head, mid, tail, between, close, content, beginning, spelling, tokens: signs } = format;
  const write = (text: string) => literal(text, format);
  const callable = tools.filter(({ isCallable }) => isCallable);
  const more = isParallel && !format.isSingle ? `(${write(between)} call){0,${MAX_CALLS - 1}}` : "";
  const rules = [
    `calls ::= ${write(open)} call ${more} ${write(close)}`,
    `call ::= ${write(head)} (${callable.map(({ name }, i) => `${write(name + mid)} args${i}`).join(" | ")}) ${write(tail)}`,
  ];
  // A token that a rule names is none of a text, though no answer comes to that rule.
  if (signs.length > 0) rules.push(`signs ::= ${signs.map(([id]) => `<[${id}]>`).join(" ")}`);
  const schemas = callable.map(({ schema, texts, param, isStrict }, i) => {
    const spelled = spelling && { spelling: { ...spelling, marked: texts }, signs };
    const source: SchemaSource = { kind: "schema", schema, param, isLenient: !isStrict, ...options, ...spelled };
    return { name: `args${i}`, source };
  });
  const isWrapped = typeof content !== "string";
  if (response !== null || isWrapped) {
    schemas.push({ name: "response", source: response ?? ANY_TEXT });
  } else {
    // It begins neither as calls do nor as a thought, and not with white space.
    const first = content === "instead" ? "{" : /^[\ufdd0-\ufdef]/.test(beginning) ? "" : beginning.slice(0, 1);
    const forbidden = [first, thought === "may open" ? "<" : ""].map((one) => one && escaped(one)).join("");
    rules.push(`response ::= ([^ \\t\\r\\n${forbidden}] more)?`);
    rules.push(...(content === "instead" ? ["more ::= [^]*"] : without(beginning, "more")));
  }
  const answer = isWrapped
    ? `${write(content[0])} response ${write(content[1])} | calls`
    : content === "instead" || response !== null
      ? "response | calls"
      : "response calls?";
  const space = "[ \\n]{0,4}";
  const opened = `(${write(OPENING)} thought ${write(CLOSING)} ${space})?`;
  if (thought === "may open") rules.push(...without(CLOSING, "thought"));
  const before = { "may open": opened, open: space, none: "" }[thought];
  const root = `root ::= ${before} ${choice === "auto" ? `(${answer})` : "calls"}`;
  return { kind: "ebnf", ebnf: [root, ...rules].join("\n"), schemas, param: "tools" };
}

/** Returns a text as a grammar has it, with its signs as the tokens for which they stand. */
function literal(text: string, { tokens }: MarkedFormat): string {
  const parts = text.split(/([\ufdd0-\ufdef])/).filter((part) => part !== "");
  const idOf = (part: string) => tokens.find(([, sign]) => sign === part)?.[0];
  return parts.map((part) => (idOf(part) === undefined ? JSON.stringify(part) : `<[${idOf(part)}]>`)).join(" ") || '""';
}

const escaped = (letter: string) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;

/** Returns rules of any text in which another one does not occur, whose first character it has only once. */
function without(text: string, name: string): string[] {
  if (/^[\ufdd0-\ufdef]/.test(text)) return [`${name} ::= [^]*`]; // it is a token, and no text has it
  const [first = "", ...others] = text;
  const start = `"${first}" ${name}1`;
  const rules = others.map((next, i) => {
    const onwards = i < others.length - 1 ? ` | ${JSON.stringify(next)} ${name}${i + 2}` : "";
    return `${name}${i + 1} ::= "" | ${start} | [^${escaped(first)}${escaped(next)}] ${name}${onwards}`;
  });
  return [`${name} ::= "" | ${start} | [^${escaped(first)}] ${name}`, ...rules];
}
