import { ChorusError } from "../protocol/errors.ts";
import { ebnfOf } from "./ebnf-of.ts";

/**
 * Why answers can't be held to a JSON schema, in words that name the place ("schema.properties.age..."); null: they can.
 * The same check that a request gets, but for what only a model's tokens can tell. It needs no WebAssembly.
 */
export function schemaProblem(schema: unknown): string | null {
  try {
    ebnfOf({ kind: "schema", schema, param: "schema" });
    return null;
  } catch (error) {
    if (error instanceof ChorusError) return error.message;
    throw error;
  }
}
