// Signatures of functions as text: parameters in their order, those of one type together, and what is returned if anything is.
//
//   "x y bytes: i32, epsilon: f32"        "logits bytes: i32, value: f32 -> i32"

import type { ValueType } from "./value.ts";

type NamesIn<Names extends string> = Names extends `${infer Name} ${infer Rest}` ? [Name, ...NamesIn<Rest>] : [Names];
type Before<Signature extends string> = Signature extends `${infer Groups} -> ${string}` ? Groups : Signature;

type TypesIn<Groups extends string> = Groups extends `${infer Group}, ${infer Rest}`
  ? TypesIn<Group> & TypesIn<Rest>
  : Groups extends `${infer Names}: ${infer Type extends ValueType}`
    ? { readonly [Name in NamesIn<Names>[number]]: Type }
    : unknown;

type OrderIn<Groups extends string> = Groups extends `${infer Group}, ${infer Rest}`
  ? [...OrderIn<Group>, ...OrderIn<Rest>]
  : Groups extends `${infer Names}: ${string}`
    ? NamesIn<Names>
    : [];

/** A function's parameters: names with their types, in order. */
type Parameters = Readonly<Record<string, ValueType>>;
export type ParametersOf<Signature extends string> = TypesIn<Before<Signature>>;
type ResultOf<Signature extends string> = Signature extends `${string} -> ${infer Type extends ValueType}`
  ? Type
  : null;

type Numbers<Names extends readonly string[]> = { [I in keyof Names]: number };

/** A function with this signature as JavaScript calls it. */
export type Exported<Signature extends string> = (
  ...args: Numbers<OrderIn<Before<Signature>>>
) => ResultOf<Signature> extends null ? void : number;

export function parseSignature(signature: string): { parameters: Parameters; result: ValueType | null } {
  const [groups = "", result = null] = signature.split(" -> ");
  const entries = groups.split(", ").flatMap((group) => {
    const [names = "", type] = group.split(": ");
    return names.split(" ").map((name) => [name, type]);
  });
  return { parameters: Object.fromEntries(entries) as Parameters, result: result as ValueType | null };
}
