import { charSetOf, complement, intersection } from "./char-set.ts";
import { ChorusError } from "../protocol/errors.ts";
import { parseEbnf } from "./ebnf.ts";
import { canEnd, choice, hasPart, rulesWhere, text, withPrefix, type Expression, type Rules } from "./expression.ts";
import { jsonSchemaRules } from "./json-schema.ts";
import { ONE_LINE, spaced, type Layout } from "./json-text.ts";
import { parseRegex } from "./regex.ts";

/** A description of the allowed answers, and the request field that contains it. */
export type GrammarSource = { readonly param: string } &
  /** `whitespace`: a pattern of what may stand around JSON's signs, and its field; by default one line. */
  (
    | {
        readonly kind: "schema";
        readonly schema: unknown;
        readonly whitespace?: { readonly pattern: string; readonly param: string };
      }
    | { readonly kind: "regex"; readonly pattern: string }
    /** One of these texts. */
    | { readonly kind: "choice"; readonly choices: readonly string[] }
    /** In the notation of xgrammar and llama.cpp. It may refer to rules that schemas describe. */
    | { readonly kind: "ebnf"; readonly ebnf: string; readonly schemas?: readonly NamedSchema[] }
  );

interface NamedSchema {
  /** Of its rule. */
  readonly name: string;
  readonly schema: unknown;
  /** The field that contains it. */
  readonly param: string;
}

/** Returns the grammar's rules, which some text can finish. @throws ChorusError saying what is wrong with the source */
export function rulesOf(source: GrammarSource): Rules {
  const { param } = source;
  switch (source.kind) {
    case "schema":
      return finite(jsonSchemaRules(source.schema, param, layoutOf(source.whitespace)), param);
    case "regex":
      return finite(onlyRoot(parseRegex(source.pattern, param)), param);
    case "choice":
      return finite(onlyRoot(choice(...source.choices.map(text))), param);
    case "ebnf":
      return finite(parseEbnf(source.ebnf, param, rulesOfSchemas(source.schemas ?? [])), param);
  }
}

function rulesOfSchemas(schemas: readonly NamedSchema[]): Rules {
  return new Map(
    schemas.flatMap(({ name, schema, param }) => [...withPrefix(rulesOf({ kind: "schema", schema, param }), name)]),
  );
}

function layoutOf(whitespace: { readonly pattern: string; readonly param: string } | undefined): Layout {
  if (whitespace === undefined) return ONE_LINE;
  const { pattern, param } = whitespace;
  const space = parseRegex(pattern === "any" ? "[ \\t\\n\\r]*" : pattern, param);
  const others = complement(charSetOf(" \t\n\r"));
  const hasOther = (one: Expression) => one.kind === "character" && intersection(one.set, others).length > 0;
  if (!hasPart(space, hasOther)) return spaced(space);
  throw new ChorusError("invalid_value", `${param} must be a regular expression of white space, or "any".`, param);
}

function onlyRoot(root: Expression): Rules {
  return new Map([["root", root]]);
}

function finite(rules: Rules, param: string): Rules {
  if (rulesWhere(rules, canEnd).has("root")) return rules;
  throw new ChorusError("invalid_value", `${param} describes nothing: there is no text that it allows.`, param);
}
