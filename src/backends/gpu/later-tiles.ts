import { NO_TILES, type QueryTiles } from "./query-tiles.ts";
import type { StepBuffer } from "./step-buffer.ts";

/** Steps are planned row by row until every operation has its kernel for tiles. The bits are the same. */
export class LaterTiles {
  /** What steps have in the end. */
  readonly requested: QueryTiles;
  readonly #step: Pick<StepBuffer, "tiles">;
  #missing = 0;

  constructor(step: Pick<StepBuffer, "tiles">, requested: QueryTiles) {
    this.#step = step;
    this.requested = requested;
  }

  /** @param ready whether one more operation can compute tiles, once that is known; rejects where it can't */
  await(ready: Promise<boolean>): void {
    this.#missing += 1;
    this.#step.tiles = NO_TILES;
    const count = (isReady: boolean) => {
      if (isReady) this.#missing -= 1;
      if (this.#missing === 0) this.#step.tiles = this.requested;
    };
    ready.then(count, () => undefined);
  }
}
