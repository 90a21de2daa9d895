import { ChorusError } from "../protocol/errors.ts";
import { toEbnf } from "./ebnf.ts";
import { choice, text, withoutDeadEnds, type Expression, type Rules } from "./expression.ts";
import type { GrammarSource } from "./grammar-source.ts";
import { jsonSchemaRules } from "./json-schema.ts";
import { parseRegex } from "./regex.ts";

/** A grammar in the notation that xgrammar reads. @throws ChorusError saying what in it is wrong */
export function ebnfOf(source: GrammarSource): string {
  switch (source.kind) {
    case "schema":
      return toEbnf(jsonSchemaRules(source.schema, source.param));
    case "regex":
      return toEbnf(onlyRoot(parseRegex(source.pattern, source.param), source.param));
    case "choice":
      return toEbnf(onlyRoot(choice(...source.choices.map(text)), source.param));
    case "ebnf":
      return source.ebnf;
  }
}

function onlyRoot(root: Expression, param: string): Rules {
  const rules = withoutDeadEnds(new Map([["root", root]]));
  if (rules !== null) return rules;
  throw new ChorusError("invalid_value", `${param} describes nothing: there is no text that it allows.`, param);
}
