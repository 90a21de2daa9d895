import { expect, test } from "vitest";

import { groupedNumber } from "./grouped-number.ts";

/** Exact in binary, or far from the middle between two figures: Intl rounds the decimal that a number is usually written as. */
const SOME = [
  0, 0.04, 0.06, 0.25, 0.5, 1, 1.5, 9.94, 9.96, 99.96, 999, 999.5, 1000, 1729.25, 12_345.6, 1e6, 123_456_789.5,
];

test.each([0, 1, 2])("writes what Intl.NumberFormat writes: %d digits", (digits) => {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  // oxlint-disable-next-line no-restricted-properties -- what it is compared with
  const intl = new Intl.NumberFormat("en-US", options);
  const numbers = [
    ...SOME,
    ...SOME.map((value) => -value - 1),
    ...Array.from({ length: 500 }, (_, i) => 1.37 ** (i % 64) * i),
  ];
  expect(numbers.map((value) => groupedNumber(value, digits))).toEqual(numbers.map((value) => intl.format(value)));
});
