import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Sha256 } from "./sha256.ts";

test("pieces of any length hash as Node's crypto hashes the whole", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), (pieces) => {
      const ours = new Sha256();
      const theirs = createHash("sha256");
      for (const piece of pieces) {
        ours.update(piece);
        theirs.update(piece);
      }
      return ours.hex() === theirs.digest("hex");
    }),
    { numRuns: 500 },
  );
});

test.each([0, 55, 56, 63, 64, 65, 119, 120, 128, 1_000_003])("%i bytes", (length) => {
  const bytes = Uint8Array.from({ length }, (_, i) => (i * 31) % 256);
  expect(new Sha256().update(bytes).hex()).toBe(createHash("sha256").update(bytes).digest("hex"));
});
