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

/** The name that the page gave a request, from the id that the reports call it: the engine puts the endpoint's before. */
export function nameIn(requestId: string): string {
  return requestId.replace(/^(chat)?cmpl-/, "");
}

/** The names of a pane's questions, and of nobody else's: its number is given out again, and the demo has its own. */
export class RequestNames {
  readonly #pane: number;
  readonly #key = crypto.randomUUID();
  #count = 0;

  constructor(pane: number) {
    this.#pane = pane;
  }

  next(turn: number): string {
    return requestName({ pane: this.#pane, turn }, `${this.#key}-${++this.#count}`);
  }

  /** Whether a request is one of these: by the id that the reports call it. */
  has(requestId: string): boolean {
    return requestId.includes(this.#key);
  }
}

/** Who asked, by the id that the reports call the request; null: no pane. */
export function askerOf(requestId: string): Asker | null {
  const [, pane, turn] = /\bpane-(\d+)-turn-(\d+)-/.exec(requestId) ?? [];
  return pane === undefined || turn === undefined ? null : { pane: Number(pane), turn: Number(turn) };
}
