// WGSL lets compilers reorder additions, and they could in one kernel but not in another. They can't where a sum is a chain of
// fma from zero(), with one() for what has no factor: numbers that no compiler knows (shaders/lib/step.wgsl).

import { expect, it } from "vitest";
import * as all from "./kernels.ts";

/** Variables that floats are added to otherwise, by kernel. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // Only software adapters run it, and their compilers keep the order: it took 1.2 times as long.
  "attention-quad": ["products"],
  // An integer, to which one or nothing is added.
  "pack-weights": ["q"],
  // A rule's bias and penalties, each added once and nowhere else.
  "process-logits": ["logit", "processed"],
  // A count.
  "sample-plain": ["above"],
};

const INTEGER = /[ui](8|32)\b|\d[ui]\b/;
/** A variable, an element or a field. */
const PLACE = String.raw`\b(\w+)((?:\[[^;=]*\])?(?:\.\w+)*)`;

/** Variables to which floats are added plainly, or by fma from a number that compilers know. */
function looseSumsOf(text: string): string[] {
  const code = text.replaceAll(/\/\/.*|\bfor \(.*\{/g, "");
  const startsOf = (name: string) =>
    Array.from(
      code.matchAll(new RegExp(`(?<![\\w.])${name}\\b[^;={}]* = ([^;]+);`, "g")),
      ([, value = ""]) => value,
    ).filter((value) => !new RegExp(`\\b${name}\\b`).test(value));
  const isInteger = (name: string): boolean =>
    new RegExp(`\\b${name}: [^;=,)]*[ui]32`).test(code) ||
    startsOf(name).some((value) => INTEGER.test(value) || (/^\w+$/.test(value) && isInteger(value)));
  const plain = [...code.matchAll(new RegExp(`${PLACE} (?:[-+]= |= \\1\\2 [-+] )`, "g"))]
    .map(([, name = ""]) => name)
    .filter((name) => !isInteger(name));
  const chains = [...code.matchAll(new RegExp(`${PLACE} = fma\\(([^;]*), \\1\\2\\);`, "g"))]
    .filter(([, name = "", , terms = ""]) => {
      const startsKnown = startsOf(name).some((value) => /(^|[( ])-?\d+\.\d/.test(value));
      return startsKnown || /(^|, )(vec\d\()?1\.0\)?(,|$)/.test(terms);
    })
    .map(([, name = ""]) => name);
  return [...new Set([...plain, ...chains])].toSorted();
}

it.each(Object.values(all))("compilers can't reorder the sums of $name", (kernel) => {
  expect(looseSumsOf(kernel.code)).toEqual(EXCEPTIONS[kernel.name] ?? []);
});

it.each([
  ["var total = 0.0; total = fma(a, b, total);", ["total"]],
  ["var total = zero(n); total += x[i];", ["total"]],
  ["var total = zero(n); total = total + x[i];", ["total"]],
  ["var total = zero(n); total = fma(x[i], 1.0, total);", ["total"]],
  ["sums[r] = vec4(0.0); sums[r] = fma(a, vec4(b), sums[r]);", ["sums"]],
  ["var total = zero(n); total = fma(x[i], one(n), total);", []],
  ["var count = 0u; count += 1u;", []],
])("knows loose sums: %s", (code, loose) => {
  expect(looseSumsOf(code)).toEqual(loose);
});
