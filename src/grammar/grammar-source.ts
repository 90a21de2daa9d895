import { charSetOf, complement, intersection } from "./char-set.ts";
import { ChorusError } from "../protocol/errors.ts";
import { parseEbnf } from "./ebnf.ts";
import { canEnd, choice, hasPart, rulesWhere, text, withPrefix, type Expression } from "./expression.ts";
import { jsonSchemaRules, type WrittenRules } from "./json-schema.ts";
import { ONE_LINE, spaced, type Layout } from "./json-layout.ts";
import { parseRegex } from "./regex.ts";
import { spelledLayout } from "./spelled-layout.ts";
import type { Sign, Spelling } from "./spelling.ts";

/** A description of the allowed answers, and the request field that contains it. */
export type GrammarSource = { readonly param: string } &
  /**
   * `whitespace`: a pattern of what may stand around JSON's signs, and its field; by default one line.
   * `isLenient`: whether keywords that can't be held are left out. `spelling`: how values are written, if not as JSON, with
   * the signs in it.
   */
  (
    | {
        readonly kind: "schema";
        readonly schema: unknown;
        readonly whitespace?: { readonly pattern: string; readonly param: string };
        readonly isLenient?: boolean;
        readonly spelling?: Spelling;
        readonly signs?: readonly Sign[];
      }
    | { readonly kind: "regex"; readonly pattern: string }
    | { readonly kind: "choice"; readonly choices: readonly string[] }
    /** In the notation of xgrammar and llama.cpp. It may refer to rules that schemas describe. */
    | { readonly kind: "ebnf"; readonly ebnf: string; readonly schemas?: readonly NamedSchema[] }
  );

interface NamedSchema {
  readonly name: string;
  readonly source: Extract<GrammarSource, { readonly kind: "schema" }>;
}

/** Returns the grammar's rules, which some text can finish. @throws ChorusError saying what is wrong with the source */
export function rulesOf(source: GrammarSource): WrittenRules {
  const written = writtenRules(source);
  if (rulesWhere(written.rules, canEnd).has("root")) return written;
  const { param } = source;
  throw new ChorusError("invalid_value", `${param} describes nothing: there is no text that it allows.`, param);
}

function writtenRules(source: GrammarSource): WrittenRules {
  const { param } = source;
  switch (source.kind) {
    case "schema": {
      const { schema, whitespace, isLenient = false, spelling, signs = [] } = source;
      const layout = spelling ? spelledLayout(spelling, signs) : layoutOf(whitespace);
      return jsonSchemaRules(schema, param, layout, isLenient);
    }
    case "regex":
      return { rules: new Map([["root", parseRegex(source.pattern, param)]]), warnings: [] };
    case "choice":
      return { rules: new Map([["root", choice(...source.choices.map(text))]]), warnings: [] };
    case "ebnf": {
      const schemas = (source.schemas ?? []).map(({ name, source: own }) => {
        const { rules, warnings } = rulesOf(own);
        return { rules: withPrefix(rules, name), warnings };
      });
      return {
        rules: parseEbnf(source.ebnf, param, new Map(schemas.flatMap(({ rules }) => [...rules]))),
        warnings: schemas.flatMap(({ warnings }) => warnings),
      };
    }
  }
}

function layoutOf(whitespace: { readonly pattern: string; readonly param: string } | undefined): Layout {
  if (whitespace === undefined) return ONE_LINE;
  const { pattern, param } = whitespace;
  const space = parseRegex(pattern === "any" ? "[ \\t\\n\\r]*" : pattern, param);
  const others = complement(charSetOf(" \t\n\r"));
  const hasOther = (one: Expression) =>
    one.kind === "states" || (one.kind === "character" && intersection(one.set, others).length > 0);
  if (!hasPart(space, hasOther)) return spaced(space);
  throw new ChorusError("invalid_value", `${param} must be a regular expression of white space, or "any".`, param);
}
