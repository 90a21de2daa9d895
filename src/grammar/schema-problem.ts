import { ChorusError } from "../protocol/errors.ts";
import { compile } from "./compile.ts";

/**
 * Returns why answers can't follow a JSON schema, naming the place ("schema.properties.age..."), or null if they can. It is
 * the same check as for a request, except for parts that depend on a model's tokens. It needs no WebAssembly.
 */
export function schemaProblem(schema: unknown): string | null {
  try {
    compile({ kind: "schema", schema, param: "schema" });
    return null;
  } catch (error) {
    if (error instanceof ChorusError) return error.message;
    throw error;
  }
}
