import { ChorusError } from "../../protocol/errors.ts";
import type { Kernel } from "./define-kernel.ts";
import { withProvableLoops } from "./provable-loops.ts";
import { withWrittenLoops } from "./written-out-loops.ts";

const OVERRIDE = /^override (\w+): (\w+);/gm;

/**
 * Returns the kernel's text with each `override NAME: T;` turned into `const NAME: T = value;`, on its own line, and with
 * provable loops, or with short ones written out.
 *
 * WGSL's overrides would suffice, but Firefox's compiler (naga) refuses arrays whose length is an override. Throws
 * internal_error for a missing or unknown constant, or a value outside its type.
 */
export function specialise(
  kernel: Kernel,
  constants: Readonly<Record<string, number | boolean>>,
  writesLoops = false,
): string {
  const declared = new Set<string>();
  const code = kernel.code.replace(OVERRIDE, (_, name: string, type: string) => {
    declared.add(name);
    const value = constants[name];
    if (value === undefined) {
      throw new ChorusError("internal_error", `kernel ${kernel.name} was given no value for the constant ${name}`);
    }
    const literal = literalOf(type, value);
    if (literal === null) {
      throw new ChorusError(
        "internal_error",
        `kernel ${kernel.name}: the constant ${name} can't be ${value}, it is ${type}`,
      );
    }
    return `const ${name}: ${type} = ${literal};`;
  });
  const unknown = Object.keys(constants).find((name) => !declared.has(name));
  if (unknown !== undefined) {
    throw new ChorusError("internal_error", `kernel ${kernel.name} has no constant ${unknown}`);
  }
  const provable = withProvableLoops(code);
  return writesLoops ? withWrittenLoops(provable) : provable;
}

/** Returns the value in WGSL; null if it is outside the type. */
function literalOf(type: string, value: number | boolean): string | null {
  const number = Number(value);
  switch (type) {
    case "bool":
      return number === 0 || number === 1 ? String(number === 1) : null;
    case "u32":
      return Number.isInteger(number) && number >= 0 && number < 2 ** 32 ? `${number}u` : null;
    case "f32":
      // The f32 printed as a double has enough digits that every compiler reads the same f32.
      return Number.isFinite(Math.fround(number)) ? `${Math.fround(number)}f` : null;
    default:
      return null;
  }
}
