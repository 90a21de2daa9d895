// WGSL lets compilers reorder additions, and they could in one kernel but not in another. They can't where a sum is a chain of
// fma from zero(), with one() for what has no factor: numbers that no compiler knows (shaders/lib/step.wgsl).

import { expect, it } from "vitest";
import * as all from "./kernels.ts";

/** Other sums, by kernel: variables that floats are added to, and sums in expressions. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // Integers: rows.
  attention: ["row_of_start + p", "row_of_start + scored"],
  // Only software adapters run it, and GPUs whose own kernels failed. It took 1.2 times as long with chains, and compilers of
  // software adapters keep the order.
  "attention-quad": [
    "(products.x + products.y) + (products.z + products.w)",
    "pair_total + quadSwapY(pair_total)",
    "products",
    "products.z + products.w",
  ],
  // A gate's bias, which is added once and nowhere else.
  "delta-conv": ["value + rates[]"],
  // An integer, to which one or nothing is added.
  "pack-weights": ["q"],
  // A rule's bias and penalties, each added once and nowhere else.
  "process-logits": ["logit", "processed"],
  // A count.
  "sample-plain": ["above"],
};

const INTEGER = /[ui](8|32)\b|\d[ui]\b/;
/** A variable, an element or a field. */
const PLACE = String.raw`\b(\w+)((?:\[\])?(?:\.\w+)*)`;
/** A factor or a product of some. */
const TERM = String.raw`(?:[\w.]|\[\]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)| [*/%] )+`;

/** Returns a text without what stands in brackets, which are integers, and without heads of loops. */
function withoutIndices(text: string): string {
  let code = text.replaceAll(/\/\/.*|\bfor \(.*\{/g, "");
  const index = /\[(?:[^[\]]|\[\])+\]/;
  while (index.test(code)) code = code.replaceAll(new RegExp(index, "g"), "[]").replaceAll("[][]", "[]");
  return code;
}

/** Variables to which floats are added plainly, or by fma from a number that compilers know; and sums in expressions. */
function looseSumsOf(text: string): string[] {
  const code = withoutIndices(text);
  const isCounter = (name: string) =>
    new RegExp(`\\bfor \\(var ${name} `).test(text) && !new RegExp(`\\b(let|var) ${name}\\b`).test(code);
  const startsOf = (name: string) =>
    Array.from(
      code.matchAll(new RegExp(`(?<![\\w.])${name}\\b[^;={}]* = ([^;]+);`, "g")),
      ([, value = ""]) => value,
    ).filter((value) => !new RegExp(`\\b${name}\\b`).test(value));
  const isInteger = (name: string): boolean =>
    isCounter(name) ||
    new RegExp(`\\b${name}(?:: |\\([^{]*\\) -> )[^;=,){]*[ui]32`).test(code) ||
    startsOf(name).some(
      (value) => INTEGER.test(value) || (/^[\w.]+$/.test(value) && isInteger(value.replace(/.*\./, ""))),
    );
  const plain = [...code.matchAll(new RegExp(`${PLACE} (?:[-+]= |= \\1\\2 [-+] )`, "g"))]
    .map(([, name = ""]) => name)
    .filter((name) => !isInteger(name));
  const chains = [...code.matchAll(new RegExp(`${PLACE} = fma\\(([^;]*), \\1\\2\\);`, "g"))]
    .filter(([, name = "", , terms = ""]) => {
      const startsKnown = startsOf(name).some((value) => /(^|[( ])-?\d+\.\d/.test(value));
      return startsKnown || /(^|, )(vec\d\()?1\.0\)?(,|$)/.test(terms);
    })
    .map(([, name = ""]) => name);
  const isIntegerTerm = (term: string) => {
    const names =
      term.replaceAll(/\bf32\([^()]*(\(.*\))?[^()]*\)/g, "").match(/(?<!\.)[a-zA-Z]\w*|(?<=\.)\w{5,}/g) ?? [];
    return INTEGER.test(term.replace(/^f32\(.*/, "")) || names.some(isInteger);
  };
  const isNumber = (term: string) => /^\(*(vec\d\()?-?\d+\.\d|^EPSILON$/.test(term); // of a formula, whose sums have one order
  const inside = [...code.matchAll(new RegExp(`(${TERM}) \\+ (?=(${TERM}))`, "g"))]
    .filter(([, ...terms]) => !terms.some((term) => isIntegerTerm(term) || isNumber(term)))
    .map(([, left = "", right = ""]) => `${left} + ${right}`.replaceAll(/\s+/g, " "));
  return [...new Set([...plain, ...chains, ...inside])].toSorted();
}

it.each(Object.values(all))("compilers can't reorder the sums of $name", (kernel) => {
  expect(looseSumsOf(kernel.code)).toEqual(EXCEPTIONS[kernel.name] ?? []);
});

it.each([
  ["var total = 0.0; total = fma(a, b, total);", ["total"]],
  ["var total = zero(n); total += x[i];", ["total"]],
  ["var total = zero(n); total = total + x[i];", ["total", "total + x[]"]],
  ["var total = x[4u * i]; total += x[1u];", ["total"]],
  ["let z = sum + bias[n4];", ["sum + bias[]"]],
  ["leave_logit_part(total[slot] + bias[read_n4], n4, row);", ["total[] + bias[]"]],
  ["let at = 2u * row + n4; let end = at + size;", []],
  ["let x = 1.0 + q * (0.5 + q);", []],
  ["var total = zero(n); total = fma(x[i], 1.0, total);", ["total"]],
  ["sums[r] = vec4(0.0); sums[r] = fma(a, vec4(b), sums[r]);", ["sums"]],
  ["var total = zero(n); total = fma(x[i], one(n), total);", []],
  ["var count = 0u; count += 1u;", []],
])("knows loose sums: %s", (code, loose) => {
  expect(looseSumsOf(code)).toEqual(loose);
});
