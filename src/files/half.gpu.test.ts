// In a browser, which has its own conversion.

import { expect, test } from "vitest";
import { halfByDefinition } from "../../tests/references/half-by-definition.ts";
import { float16ToFloat32 } from "./half.ts";

test("all 65,536 halves have the value the format defines", () => {
  expect("Float16Array" in globalThis).toBe(true);
  // One before them: a view into a larger buffer.
  const all = Uint16Array.from({ length: 65537 }, (_, i) => i - 1).subarray(1);
  const floats = float16ToFloat32(all);
  const wrong = [...all].filter((bits) => !Object.is(floats[bits], halfByDefinition(bits)));
  expect(wrong).toEqual([]);
});
