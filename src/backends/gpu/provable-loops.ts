/** `for (var i = START; i < END && CONDITION; i += STEP) {`, also without a condition, and with `i++`. */
const LOOP = /for \(var (\w+) = ([^;]+); \1 < ([^;&]+?)(?: && ([^;]+))?; \1(?:\+\+| \+= ([^)]+))\) \{/g;

/** More rounds than any loop has. */
const MAX_ROUNDS = "0x1000000u";

/**
 * Returns WGSL with its loops in the one form that Tint proves finite: from a literal to a constant in steps of one.
 *
 * Tint ends any other loop by a 64-bit counter, and drivers neither unroll such a loop nor load ahead in it. Constants are
 * known by their names, which are in capitals. No line moves.
 */
export function withProvableLoops(code: string): string {
  return code.replace(LOOP, (loop, i: string, start: string, end: string, condition?: string, step?: string) => {
    if (!condition && !step && isConstant(start) && isConstant(end)) return loop;
    const counted = end.startsWith(`${start} + `) ? end.slice(start.length + 3) : end;
    const isExact = isConstant(counted) && (counted !== end || start === "0u");
    const most = isConstant(counted) ? (step ? `(${counted} + ${step} - 1u) / (${step})` : counted) : MAX_ROUNDS;
    const stops = [...(isExact ? [] : [`${i} >= ${end}`]), ...(condition ? [`!(${condition})`] : [])];
    const stop = stops.length > 0 ? ` if (${stops.join(" || ")}) { break; }` : "";
    const value = `${start} + ${step ? `(${step}) * ` : ""}${i}_round`;
    return `for (var ${i}_round = 0u; ${i}_round < ${most}; ${i}_round++) { let ${i} = ${value};${stop}`;
  });
}

function isConstant(expression: string): boolean {
  return !/\b[a-z]/.test(expression);
}
