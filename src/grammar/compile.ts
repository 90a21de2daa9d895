import { ChorusError } from "../protocol/errors.ts";
import { rulesOf, type GrammarSource } from "./grammar-source.ts";
import { Machine } from "./machine.ts";
import { Program } from "./program.ts";
import { TooComplex, TooMuchWork, withinSteps } from "./work.ts";

/** Of a grammar that is too much. A stack overflow is a RangeError, in Firefox an InternalError. */
const LIMITS = [TooComplex, TooMuchWork, RangeError];

/** More than any grammar that is compiled within seconds. */
const MAX_STEPS = 2_000_000;

/** Returns a machine that can begin. @throws ChorusError saying what is wrong with the source */
export function compile(source: GrammarSource) {
  const { param } = source;
  try {
    return withinSteps(MAX_STEPS, () => {
      const { rules, warnings } = rulesOf(source);
      const machine = new Machine(new Program(rules));
      machine.start();
      return { machine, warnings };
    });
  } catch (error) {
    const isTooMuch = LIMITS.some((limit) => error instanceof limit);
    if (!isTooMuch && !(error instanceof Error && error.name === "InternalError")) throw error;
    throw new ChorusError(
      "invalid_value",
      `${param} is too large or too ambiguous; make it smaller or simpler.`,
      param,
    );
  }
}

/** Returns why answers can't follow a schema: the same check as for a request, except for what depends on a model's tokens. */
export function schemaProblem(schema: unknown): string | null {
  try {
    compile({ kind: "schema", schema, param: "schema" });
    return null;
  } catch (error) {
    if (error instanceof ChorusError) return error.message;
    throw error;
  }
}
