import type { StepReport } from "../../protocol/reports.ts";
import { tiledDown, tiledUp, type RowTiles } from "../row-tiles.ts";
import { StepCost } from "./step-cost.ts";

/** The first bound, and the least one: a prompt makes progress even beside streams that allow no more rows. */
const FIRST_PROMPT_ROWS = 16;
const MIN_PROMPT_ROWS = 8;
/** Most that the bound moves at once, up or down. */
const MAX_MOVE = 2;
/** A step of streams that took longer than this many times its prediction (background tab, garbage collection) counts less. */
const OUTLIER = 2;
/** Steps with prompts that must pass after one that took too long, before one more tile is tried. */
const CALM_STEPS = 32;

/**
 * The most rows of prompts in a step beside running streams. With them the step takes `stretch` times as long as without
 * them. What the rows cost depends on the machine, so each step's time moves the bound. A step is never more than proportional
 * to its prompt rows, so a bound that was too low rises to the right one without passing it.
 *
 * The first bound follows from steps that had only prompts or only streams: most engines begin with a prompt alone.
 *
 * Where kernels compute rows in tiles, prompts get what fills the tiles. A single tile can only double, and a step's time
 * never says for certain that this fits. So one more tile is also tried if the line through the times without and with prompts
 * predicts that it fits.
 */
export class PromptRows {
  #stretch: number;
  #maxRows: number;
  #tiles: RowTiles = [];
  readonly #cost = new StepCost();
  #bound: number;
  /** The largest step of prompts alone; null before the first. */
  #alone: { readonly rows: number; readonly stepMs: number } | null = null;
  /** Whether a step beside streams has used its whole bound. */
  #isTried = false;
  /** Steps with prompts since one that took too long. */
  #calmSteps = Infinity;

  /** @param maxRows most rows of a step */
  constructor(stretch: number, maxRows: number) {
    this.#stretch = stretch;
    this.#maxRows = maxRows;
    this.#bound = Math.min(FIRST_PROMPT_ROWS, maxRows);
  }

  update(stretch: number, maxRows: number): void {
    this.#stretch = stretch;
    this.#maxRows = maxRows;
    this.#bound = Math.min(this.#bound, maxRows);
  }

  useTiles(tiles: RowTiles): void {
    this.#tiles = tiles;
  }

  /** Returns the most rows of prompts beside this many rows of streams, which include drafts; at least one. */
  beside(streams: number): number {
    const full = tiledDown(streams + Math.floor(this.#bound), this.#tiles);
    const least = tiledUp(streams + Math.min(MIN_PROMPT_ROWS, this.#maxRows), this.#tiles);
    return Math.max(full, least) - streams;
  }

  /** Takes a step's report, which may move the bound. */
  observe({ rows, promptRows, stepMs }: Pick<StepReport, "rows" | "promptRows" | "stepMs">): void {
    this.#cost.observe(rows, stepMs);
    const streams = rows - promptRows;
    // A coarse clock may show 0 ms for a quick step.
    if (stepMs <= 0) return;
    const streamsMs = this.#cost.msOf(streams);
    if (streams === 0) {
      if (rows >= (this.#alone?.rows ?? 0)) this.#alone = { rows, stepMs };
    } else if (promptRows === 0) {
      if (!this.#isTried && this.#alone !== null) {
        this.#bound = this.#within(this.#guess(streams, Math.min(stepMs, OUTLIER * streamsMs), this.#alone));
      }
    } else {
      const allowedMs = this.#stretch * streamsMs;
      this.#calmSteps = stepMs > allowedMs ? 0 : this.#calmSteps + 1;
      // A step with fewer rows than allowed says nothing about more rows.
      if (stepMs < allowedMs && promptRows < this.beside(streams)) return;
      this.#isTried = true;
      const fitting = promptRows * Math.min(MAX_MOVE, allowedMs / stepMs);
      // A slow step of few rows moves the bound no further than one of many.
      this.#bound = this.#within(Math.max(fitting, this.#bound / MAX_MOVE));
      if (this.#calmSteps <= CALM_STEPS || this.beside(streams) > promptRows) return;
      const more = tiledUp(rows + 1, this.#tiles);
      const moreMs = stepMs + ((more - rows) * (stepMs - streamsMs)) / promptRows;
      if (moreMs <= allowedMs) this.#bound = this.#within(more - streams);
    }
  }

  /** Returns the rows that fit by the line through both steps; rows beyond those seen count double. */
  #guess(streams: number, streamsMs: number, alone: { readonly rows: number; readonly stepMs: number }): number {
    const rowMs = (alone.stepMs - streamsMs) / (alone.rows - streams);
    const fitting = rowMs > 0 ? ((this.#stretch - 1) * streamsMs) / rowMs : Infinity;
    return alone.rows > streams ? Math.min(fitting, this.#stretch * alone.rows) : this.#bound;
  }

  #within(rows: number): number {
    return Math.min(this.#maxRows, Math.max(MIN_PROMPT_ROWS, rows));
  }
}
