import { expect, it } from "vitest";

import { isaKernels } from "../../../lab/isa/isa-kernels.ts";
import { withWrittenLoops } from "./written-out-loops.ts";

it.each([
  ["for (var i = 0u; i < 2u; i++) {\n  a[i] = i;\n}", "{ const i = 0u; a[i] = i; } { const i = 1u; a[i] = i; }\n\n"],
  ["for (var i = 1u; i < SPLITS - 3u * (ROWS - 2u); i++) {\n}", "{ const i = 1u; }\n"],
  [
    "for (var i_round = 0u; i_round < ROWS; i_round++) { let i = 8u * i_round; if (i >= n) { break; }\n  f(i);\n}",
    Array.from(
      { length: 3 },
      (_, i) => `{ const i_round = ${i}u; let i = 8u * i_round; if (!(i >= n)) { f(i); } }`,
    ).join(" ") + "\n\n",
  ],
  [
    "for (var i = 0u; i < 2u; i++) { if (!((!IS_LONG || at + i < n) && i < m)) { break; }\n  at += 4u;\n}",
    [0, 1].map((i) => `{ const i = ${i}u; if (!(!((!IS_LONG || at + i < n) && i < m))) { at += 4u; } }`).join(" ") +
      "\n\n",
  ],
  [
    "for (var i = 0u; i < 2u; i++) {\nfor (var j = 0u; j < 1u + u32(IS_LONG); j++) {\nf(i, j);\n}\n}",
    "{ const i = 0u; { const j = 0u; f(i, j); } } { const i = 1u; { const j = 0u; f(i, j); } }\n\n\n\n",
  ],
])("writes a loop out: %s", (loop, written) => {
  const constants = "const SPLITS: u32 = 5u;\nconst ROWS = SPLITS / 2u + 1u;\nconst IS_LONG = ROWS >= 8u;\n";
  expect(withWrittenLoops(`${constants}${loop}`)).toBe(`${constants}${written}`);
});

it.each([
  ["of too many rounds", "for (var i = 0u; i < 33u; i++) {\n  f(i);\n}"],
  [
    "of rounds that depend on data",
    "for (var i_round = 0u; i_round < 0x1000000u; i_round++) { let i = i_round; if (i >= n) { break; }\n}",
  ],
  ["of rounds that can't be read", "for (var i = 0u; i < countOneBits(7u); i++) {\n}"],
  ["that leaves in the middle", "for (var i = 0u; i < 4u; i++) {\n  if (a[i]) {\n    break;\n  }\n}"],
  ["that skips", "for (var i = 0u; i < 4u; i++) {\n  if (a[i]) {\n    continue;\n  }\n  f(i);\n}"],
  [
    "that could go on again, as it reads memory",
    "for (var i_round = 0u; i_round < 4u; i_round++) { let i = 0u + i_round; if (!(flags[i] != 0u)) { break; }\n  f(i);\n}",
  ],
  [
    "that could go on again, as it has no order",
    "for (var i_round = 0u; i_round < 4u; i_round++) { let i = 0u + i_round; if (!(i != n)) { break; }\n  f(i);\n}",
  ],
  [
    "that could go on again, as its end moves",
    "for (var i_round = 0u; i_round < 4u; i_round++) { let i = 0u + i_round; if (i >= n) { break; }\n  n += f(i);\n}",
  ],
  [
    "that could go on again, as it goes back",
    "for (var i_round = 0u; i_round < 4u; i_round++) { let i = 0u + i_round; if (!(at < n)) { break; }\n  at = f(i);\n}",
  ],
  ["that is too long", `for (var i = 0u; i < 8u; i++) {\n${"  f(i);\n".repeat(300)}}`],
])("leaves a loop %s", (_, loop) => {
  expect(withWrittenLoops(`  ${loop}\n`)).toBe(`  ${loop}\n`);
});

it("of a product only the loops over K are left, and of attention those over positions and a head's values", () => {
  const left = new Map<string, Set<string>>();
  for (const { label, code } of isaKernels("SmolLM2-135M", true)) {
    const [kernel = ""] =
      /skinny \d+|tiled|integer \d|attention-merge|attention|delta-\w+|layer-norm/.exec(label) ?? [];
    const counters = Array.from(
      withWrittenLoops(code).matchAll(/\bfor \(var (\w+?)(?:_round)? /g),
      ([, counter = ""]) => counter,
    );
    left.set(kernel, new Set([...(left.get(kernel) ?? []), ...counters]));
  }
  expect(Object.fromEntries(left)).toMatchObject({
    "skinny 1": new Set(["round"]),
    "skinny 4": new Set(["round", "j"]),
    "skinny 8": new Set(["round", "j"]),
    "skinny 16": new Set(["round", "j"]),
    tiled: new Set(["chunk"]),
    "integer 1": new Set(["round"]),
    "integer 4": new Set(["round"]),
    "integer 8": new Set(["round", "half"]),
    attention: new Set(["split", "tile", "v", "p"]),
    "attention-merge": new Set(["split"]),
    "layer-norm": new Set(),
  });
});
