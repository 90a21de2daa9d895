// Chooses how an adapter's attention tiles the rows of prompts, by measuring a layer of the model.

import type { Attention } from "../../models/graph.ts";
import { ROW_WORDS, type StepPlan } from "../../engine/step-plan.ts";
import { maxSequenceLength } from "../../engine/scheduling/admission.ts";
import type { TuningStore } from "../backend.ts";
import { tilesToMeasure } from "./operations/attention-rows.ts";
import { wholeAttention } from "./operations/attention.ts";
import type { ModelContext } from "./operations/operations.ts";
import { NO_TILES, type QueryTiles } from "./query-tiles.ts";
import { timedMs, tune, type Tuned } from "./tuning.ts";

/** Most rows of the measured prompt. A step may have fewer. */
const PROMPT_ROWS = 512;

/** Returns the key of the stored measurement, made from the key of the products. */
export function tilesKey(key: string): string {
  return `${key}, attention`;
}

/** Returns the fastest tiles for a long prompt, from the store if it has the key; the first if no step is large enough. */
export async function tuneTiles(
  choice: readonly [QueryTiles, ...QueryTiles[]],
  key: string,
  store: TuningStore,
  model: ModelContext,
): Promise<Tuned<QueryTiles>> {
  const [first] = choice;
  const count = Math.min(PROMPT_ROWS, model.engine.maxNumBatchedTokens, maxSequenceLength(model.engine));
  const attention = model.graph.operations.find((one) => one.type === "attention");
  if (count < first.minStepRows || !attention) return { variants: [first], reason: "no choice" };
  return tune([choice], tilesKey(key), store, (tiles) => promptMs(model, attention, tiles, count));
}

/** Returns the milliseconds of a layer's attention over a prompt. */
export async function promptMs(
  model: ModelContext,
  operation: Attention,
  tiles: QueryTiles,
  numRows: number,
): Promise<number> {
  const { compiler, step, device } = model;
  const kernel = wholeAttention(model, operation);
  return compiler.tryOut(kernel.variant(tiles.rows), async () => {
    const dispatchesOf = await tilesToMeasure(model, operation, kernel, tiles);
    step.tiles = tiles;
    const size = step.write(device.queue, promptPlan(numRows, model.engine.blockSize));
    step.tiles = NO_TILES;
    return timedMs(model, dispatchesOf(size), size);
  });
}

/** Returns a plan of a prompt in the first slot and the first blocks, which are still empty, with one sample. */
export function promptPlan(numRows: number, blockSize: number): StepPlan {
  const rows = new Uint32Array(numRows * ROW_WORDS);
  for (let position = 0; position < numRows; position++) rows.set([0, position, 0, 0], position * ROW_WORDS);
  const values = Array.from({ length: Math.ceil(numRows / blockSize) }, (_, block) => block);
  return {
    sequences: [{ slot: 0, start: 0, numRows, numScored: 1, numDrawn: 0 }],
    rows,
    samples: [{ kind: "score", row: 0, slot: 0, tokenId: 0, numTop: 0 }],
    blockTables: [{ slot: 0, start: 0, values }],
    histories: [],
    rules: [],
    masks: [],
  };
}
