import { beforeEach, describe, expect, it } from "vitest";

import { LaterTiles } from "./later-tiles.ts";
import { NO_TILES, type QueryTiles } from "./query-tiles.ts";

const target: QueryTiles = { name: "tiles of 4 rows", rows: 4, minStepRows: 0 };
const turn = () => new Promise((resolve) => setTimeout(resolve));

let step: { tiles: QueryTiles };
let tiles: LaterTiles;

/** One more operation. Returns what says that it is ready. */
function awaited(): () => void {
  let resolve: (isReady: boolean) => void = () => undefined;
  tiles.await(new Promise<boolean>((settle) => (resolve = settle)));
  return () => resolve(true);
}

beforeEach(() => {
  step = { tiles: NO_TILES };
  tiles = new LaterTiles(step, target);
});

describe("tiles that are compiled later", () => {
  it("are in a step's plan when the last operation has its kernel for them, and not before", async () => {
    const [first, second] = [awaited(), awaited()];
    second();
    await turn();
    expect(step.tiles).toBe(NO_TILES);
    first();
    await turn();
    expect(step.tiles).toBe(target);
  });

  it.each([
    { why: "computes something else", outcome: () => Promise.resolve(false) },
    { why: "does not compile", outcome: () => Promise.reject(new Error("refused")) },
  ])("are in none if the kernel of one operation $why", async ({ outcome }) => {
    tiles.await(Promise.resolve(true));
    tiles.await(outcome());
    tiles.await(Promise.resolve(true));
    await turn();
    expect(step.tiles).toBe(NO_TILES);
  });

  it("are taken back while one more operation is compiled", async () => {
    tiles.await(Promise.resolve(true));
    await turn();
    const more = awaited();
    expect(step.tiles).toBe(NO_TILES);
    more();
    await turn();
    expect(step.tiles).toBe(target);
  });
});
