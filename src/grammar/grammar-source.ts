/** What an answer must be, as a request says it, and the field that says it. */
export type GrammarSource = { readonly param: string } & (
  | { readonly kind: "schema"; readonly schema: unknown }
  | { readonly kind: "regex"; readonly pattern: string }
  /** One of these texts. */
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  /** In the notation that xgrammar reads. */
  | { readonly kind: "ebnf"; readonly ebnf: string }
);
