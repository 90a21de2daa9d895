import { ChorusError } from "../protocol/errors.ts";
import { toEbnf } from "./ebnf.ts";
import { choice, text, withoutDeadEnds, type Expression, type Rules } from "./expression.ts";
import { jsonSchemaRules } from "./json-schema.ts";
import { parseRegex } from "./regex.ts";

/** A description of the allowed answers, and the request field that contains it. */
export type GrammarSource = { readonly param: string } & (
  | { readonly kind: "schema"; readonly schema: unknown }
  | { readonly kind: "regex"; readonly pattern: string }
  /** One of these texts. */
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  /** In xgrammar's notation. */
  | { readonly kind: "ebnf"; readonly ebnf: string }
);

/** Returns the grammar in xgrammar's notation. @throws ChorusError saying what is wrong with the source */
export function ebnfOf(source: GrammarSource): string {
  switch (source.kind) {
    case "schema":
      return toEbnf(jsonSchemaRules(source.schema, source.param));
    case "regex":
      return toEbnf(onlyRoot(parseRegex(source.pattern, source.param), source.param));
    case "choice":
      return toEbnf(onlyRoot(choice(...source.choices.map(text)), source.param));
    case "ebnf":
      refuseWideClasses(source);
      return source.ebnf;
  }
}

/** Refuses characters beyond ASCII in classes: xgrammar reads a class as one of bytes, and would allow invalid text. */
function refuseWideClasses({ ebnf, param }: { readonly ebnf: string; readonly param: string }): void {
  const withoutTexts = ebnf.replace(/"(?:[^"\\\n]|\\.)*"|#[^\n]*/g, "");
  const classes = withoutTexts.match(/\[(?:[^\]\\\n]|\\.)*\]/g) ?? [];
  // eslint-disable-next-line no-control-regex
  const wide = classes.find((one) => /[^\u0000-\u007f]|\\u(?!00[0-7])|\\U(?!000000[0-7])|\\x[89a-fA-F]/.test(one));
  if (wide === undefined) return;
  throw new ChorusError(
    "unsupported_parameter",
    `${param} has ${wide.slice(0, 40)}: classes can hold ASCII only; write other characters as texts ("ä" | "ö"), or use regex.`,
    param,
  );
}

function onlyRoot(root: Expression, param: string): Rules {
  const rules = withoutDeadEnds(new Map([["root", root]]));
  if (rules !== null) return rules;
  throw new ChorusError("invalid_value", `${param} describes nothing: there is no text that it allows.`, param);
}
