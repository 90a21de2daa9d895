import { expect, it } from "vitest";

import { withProvableLoops } from "./provable-loops.ts";

it.each([
  ["for (var i = 0u; i < 4u * ROWS; i++) {", "for (var i = 0u; i < 4u * ROWS; i++) {"],
  [
    "for (var k = 0u; k < K4; k += 8u) {",
    "for (var k_round = 0u; k_round < (K4 + 8u - 1u) / (8u); k_round++) { let k = 0u + (8u) * k_round;",
  ],
  [
    "for (var k = first; k < first + 8u; k++) {",
    "for (var k_round = 0u; k_round < 8u; k_round++) { let k = first + k_round;",
  ],
  [
    "for (var t = lane; t < VOCABULARY; t += LANES) {",
    "for (var t_round = 0u; t_round < (VOCABULARY + LANES - 1u) / (LANES); t_round++) { let t = lane + (LANES) * t_round; if (t >= VOCABULARY) { break; }",
  ],
  [
    "for (var i = 0u; i < 4u && row + i < num_rows; i++) {",
    "for (var i_round = 0u; i_round < 4u; i_round++) { let i = 0u + i_round; if (!(row + i < num_rows)) { break; }",
  ],
  [
    "for (var i = lane; i < length; i += LANES) {",
    "for (var i_round = 0u; i_round < 0x1000000u; i_round++) { let i = lane + (LANES) * i_round; if (i >= length) { break; }",
  ],
])("%s", (loop, provable) => {
  expect(withProvableLoops(`  ${loop}\n  }`)).toBe(`  ${provable}\n  }`);
});
