import type { StepReport } from "../../protocol/reports.ts";
import { StepCost } from "./step-cost.ts";

/** Before anything is known, and the least: a prompt comes forward even beside streams that bear no more rows. */
const FIRST_PROMPT_ROWS = 16;
const MIN_PROMPT_ROWS = 8;
/** Most that the bound moves at once, up or down. */
const MAX_MOVE = 2;

/**
 * How many rows of prompts a step may have beside running streams: so many that it takes `stretch` times as long as without
 * them. What the rows cost depends on the machine, so each step's time moves the bound. A step is never more than proportional
 * to its prompt rows, so a bound that was too low rises to the right one without passing it.
 */
export class PromptRows {
  readonly #stretch: number;
  readonly #most: number;
  readonly #cost = new StepCost();
  #bound: number;

  /** @param most rows of a step */
  constructor(stretch: number, most: number) {
    this.#stretch = stretch;
    this.#most = most;
    this.#bound = Math.min(FIRST_PROMPT_ROWS, most);
  }

  /** The bound now. */
  get rows(): number {
    return Math.floor(this.#bound);
  }

  /** Takes a step's report and returns the bound for the next step. */
  observe({ rows, promptRows, stepMs }: Pick<StepReport, "rows" | "promptRows" | "stepMs">): number {
    this.#cost.observe(rows, stepMs);
    const streams = rows - promptRows;
    // A coarse clock may tell a quick step as 0 ms.
    if (streams === 0 || promptRows === 0 || stepMs <= 0) return this.rows;
    const move = (this.#stretch * this.#cost.msOf(streams)) / stepMs;
    // Fewer rows than there might have been say nothing of more.
    if (move > 1 && promptRows < this.rows) return this.rows;
    const wanted = promptRows * Math.min(MAX_MOVE, Math.max(1 / MAX_MOVE, move));
    this.#bound = Math.min(this.#most, Math.max(MIN_PROMPT_ROWS, wanted));
    return this.rows;
  }
}
