import { ChorusError } from "../protocol/errors.ts";

/** Returns a copy of an object as JSON has it. @throws ChorusError naming the field */
export function jsonCopy(value: object, param: string): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
  } catch (cause) {
    throw new ChorusError("invalid_value", `${param} must hold what JSON can.`, param, { cause });
  }
}
