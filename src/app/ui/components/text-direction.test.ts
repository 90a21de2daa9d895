import { expect, test } from "vitest";

import { directionOf } from "./text-direction.ts";

test.each([
  ["", "ltr"],
  ["Hello שלום", "ltr"],
  ["שלום Hello", "rtl"],
  ["مرحبا", "rtl"],
  ["12 (…) שלום", "rtl"],
  ["٣ apples", "ltr"],
  ["漢字 שלום", "ltr"],
  ["𞤀𞤣𞤤𞤢𞤥", "rtl"],
])("%j is written %s: its first letter decides", (text, direction) => {
  expect(directionOf(text)).toBe(direction);
});
