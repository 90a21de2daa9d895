/** A JSON schema; "true" is one for anything. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };
