// A request's name contains its pane's number, so every report and every recording has it too.

import { randomId, type SequenceId } from "../../../index.ts";

/** A pane's question: the numbers of the pane and of the question. */
export interface PaneTurn {
  /** 1..16 */
  readonly pane: number;
  /** 1..; 0 for a warm-up. */
  readonly turn: number;
}

/** Returns the request_id of a question. `unique` distinguishes repetitions of the same question. */
export function requestName({ pane, turn }: PaneTurn, unique: string): string {
  return `pane-${pane}-turn-${turn}-${unique}`;
}

export function keyOfSequence({ requestId, index }: SequenceId): string {
  return `${requestId}/${index}`;
}

/** Returns the page's name of a request. In reports it follows the endpoint's prefix. */
export function nameIn(requestId: string): string {
  return requestId.replace(/^(chat)?cmpl-/, "");
}

/** The names of one chat's questions. They need a key: pane numbers are reused, and the demo has its own panes. */
export class RequestNames {
  readonly #key = randomId();
  #count = 0;

  next(paneTurn: PaneTurn): string {
    return requestName(paneTurn, `${this.#key}-${++this.#count}`);
  }

  /** Returns whether a request, by its id in reports, is one of these. */
  has(requestId: string): boolean {
    return requestId.includes(this.#key);
  }
}

/** Returns the pane and question of a request's id in reports; null if no pane asked. */
export function paneTurnOf(requestId: string): PaneTurn | null {
  const [, pane, turn] = /\bpane-(\d+)-turn-(\d+)-/.exec(requestId) ?? [];
  return pane === undefined || turn === undefined ? null : { pane: Number(pane), turn: Number(turn) };
}
