// Which pane asked, as the name of its request: so every report, and every recording, says whose it is.

/** A pane's question: which pane asked it, and which of its questions it was. */
export interface Asker {
  /** 1..16 */
  readonly pane: number;
  /** 1..; 0: before the first, to warm up. */
  readonly turn: number;
}

/** The request_id of a question. `unique` tells it from another time the same was asked. */
export function requestName({ pane, turn }: Asker, unique: string): string {
  return `pane-${pane}-turn-${turn}-${unique}`;
}

/** Who asked, by the id that the reports call the request; null: no pane. */
export function askerOf(requestId: string): Asker | null {
  const [, pane, turn] = /\bpane-(\d+)-turn-(\d+)-/.exec(requestId) ?? [];
  return pane === undefined || turn === undefined ? null : { pane: Number(pane), turn: Number(turn) };
}
