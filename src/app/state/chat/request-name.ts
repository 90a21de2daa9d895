// A request's name says which pane asked it, so every report and every recording shows that too.

import { randomId } from "../../../index.ts";

/** A pane's question: which pane asked it, and which of its questions it was. */
export interface Asker {
  /** 1..16 */
  readonly pane: number;
  /** 1..; 0 for a warm-up. */
  readonly turn: number;
}

/** Returns the request_id of a question. `unique` distinguishes repetitions of the same question. */
export function requestName({ pane, turn }: Asker, unique: string): string {
  return `pane-${pane}-turn-${turn}-${unique}`;
}

/** Returns the name that the page gave a request. In reports the engine has put the endpoint's prefix before it. */
export function nameIn(requestId: string): string {
  return requestId.replace(/^(chat)?cmpl-/, "");
}

/**
 * The names of one chat's questions. The pane's number alone isn't enough: numbers are reused, and the demo has its own
 * panes.
 */
export class RequestNames {
  readonly #key = randomId();
  #count = 0;

  next(asker: Asker): string {
    return requestName(asker, `${this.#key}-${++this.#count}`);
  }

  /** Returns whether a request, by its id in reports, is one of these. */
  has(requestId: string): boolean {
    return requestId.includes(this.#key);
  }
}

/** Returns which pane asked, from a request's id in reports; null: no pane. */
export function askerOf(requestId: string): Asker | null {
  const [, pane, turn] = /\bpane-(\d+)-turn-(\d+)-/.exec(requestId) ?? [];
  return pane === undefined || turn === undefined ? null : { pane: Number(pane), turn: Number(turn) };
}
