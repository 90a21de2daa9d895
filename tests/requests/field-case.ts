import type { ChorusErrorCode } from "../../src/protocol/errors.ts";
import type { Kind } from "./odd-values.ts";

export interface Refusal {
  readonly code: ChorusErrorCode;
  /** The field, or what in it is wrong. */
  readonly param: string;
  readonly value: unknown;
}

export interface FieldCase {
  /** Kinds of values that it can have; any other is an invalid_type. */
  readonly kinds: readonly Kind[];
  readonly accepted: readonly unknown[];
  /** Values of the right kind that it refuses. */
  readonly refused: readonly Refusal[];
}

/** Cases of a field of a body, by its name. */
export function field(
  param: string,
  kinds: readonly Kind[],
  accepted: readonly unknown[],
  invalid: readonly unknown[] = [],
  others: readonly Refusal[] = [],
): FieldCase {
  return { kinds, accepted, refused: [...invalid.map((value) => refusal("invalid_value", param, value)), ...others] };
}

export function refusal(code: ChorusErrorCode, param: string, value: unknown): Refusal {
  return { code, param, value };
}

export function boolean(param: string): FieldCase {
  return field(param, ["boolean"], [true, false]);
}
