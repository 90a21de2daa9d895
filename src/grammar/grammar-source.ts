import { ChorusError } from "../protocol/errors.ts";
import { toEbnf } from "./ebnf.ts";
import { choice, text, withoutDeadEnds, type Expression } from "./expression.ts";
import { jsonObjectRules, jsonSchemaRules } from "./json-schema.ts";
import { parseRegex } from "./regex.ts";

/** A grammar for a whole answer, in the notation that xgrammar reads, and the request's field that asks for it. */
export interface GrammarSource {
  readonly ebnf: string;
  readonly param: string;
}

/** @throws ChorusError naming the place in the schema */
export function schemaGrammar(schema: unknown, param: string): GrammarSource {
  return { ebnf: toEbnf(jsonSchemaRules(schema, param)), param };
}

export function jsonObjectGrammar(param: string): GrammarSource {
  return { ebnf: toEbnf(jsonObjectRules()), param };
}

/** @throws ChorusError invalid_value, unsupported_parameter, saying where in the expression */
export function regexGrammar(pattern: string, param: string): GrammarSource {
  return fromRoot(parseRegex(pattern, param), param);
}

/** One of these texts. */
export function choiceGrammar(choices: readonly string[], param: string): GrammarSource {
  return fromRoot(choice(...choices.map(text)), param);
}

function fromRoot(root: Expression, param: string): GrammarSource {
  const rules = withoutDeadEnds(new Map([["root", root]]));
  if (rules !== null) return { ebnf: toEbnf(rules), param };
  throw new ChorusError("invalid_value", `${param} describes nothing: there is no text that it allows.`, param);
}
