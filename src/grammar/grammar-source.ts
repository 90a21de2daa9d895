import { ChorusError } from "../protocol/errors.ts";
import { parseEbnf } from "./ebnf.ts";
import { choice, text, withoutDeadEnds, type Expression, type Rules } from "./expression.ts";
import { jsonSchemaRules } from "./json-schema.ts";
import { parseRegex } from "./regex.ts";

/** A description of the allowed answers, and the request field that contains it. */
export type GrammarSource = { readonly param: string } & (
  | { readonly kind: "schema"; readonly schema: unknown }
  | { readonly kind: "regex"; readonly pattern: string }
  /** One of these texts. */
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  /** In the notation of xgrammar and llama.cpp. */
  | { readonly kind: "ebnf"; readonly ebnf: string }
);

/** Returns the grammar's rules, each of which some text can finish. @throws ChorusError saying what is wrong with the source */
export function rulesOf(source: GrammarSource): Rules {
  const { param } = source;
  switch (source.kind) {
    case "schema":
      return jsonSchemaRules(source.schema, param);
    case "regex":
      return finite(onlyRoot(parseRegex(source.pattern, param)), param);
    case "choice":
      return finite(onlyRoot(choice(...source.choices.map(text))), param);
    case "ebnf":
      return finite(parseEbnf(source.ebnf, param), param);
  }
}

function onlyRoot(root: Expression): Rules {
  return new Map([["root", root]]);
}

function finite(rules: Rules, param: string): Rules {
  const found = withoutDeadEnds(rules);
  if (found !== null) return found;
  throw new ChorusError("invalid_value", `${param} describes nothing: there is no text that it allows.`, param);
}
