import { expect, it } from "vitest";
import { layOutMap } from "./draw-cache-map.ts";

it("takes the largest blocks that fit, and the smallest where none do", () => {
  expect(layOutMap(240, 280, 200)).toEqual({ columns: 20, blockPx: 12, gapPx: 2, heightPx: 168 });
  expect(layOutMap(512, 280, 200)).toMatchObject({ blockPx: 9, columns: 28, heightPx: 190 });
  expect(layOutMap(100_000, 280, 200)).toMatchObject({ blockPx: 4, columns: 56 });
  expect(layOutMap(100_000, 280, 200).heightPx).toBeGreaterThan(200);
});
