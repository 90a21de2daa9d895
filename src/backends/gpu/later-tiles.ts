import { NO_TILES, type QueryTiles } from "./query-tiles.ts";
import type { StepBuffer } from "./step-buffer.ts";

/** Steps are planned row by row until every operation has its kernel for tiles. The bits are the same. */
export class LaterTiles {
  /** The tiles of steps once all operations are ready. */
  readonly target: QueryTiles;
  readonly #step: Pick<StepBuffer, "tiles">;
  #missing = 0;

  constructor(step: Pick<StepBuffer, "tiles">, target: QueryTiles) {
    this.#step = step;
    this.target = target;
  }

  /** @param ready whether one more operation can compute tiles, once that is known; rejects where it can't */
  await(ready: Promise<boolean>): void {
    this.#missing += 1;
    this.#step.tiles = NO_TILES;
    const count = (isReady: boolean) => {
      if (isReady) this.#missing -= 1;
      if (this.#missing === 0) this.#step.tiles = this.target;
    };
    ready.then(count, () => undefined);
  }

  /** Plans row by row from now on. */
  stop(): void {
    this.#missing = Infinity;
    this.#step.tiles = NO_TILES;
  }
}
