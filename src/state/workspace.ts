import { Pane, type PaneContext } from "./pane.ts";
import { createStore, type ReadonlyStore, type StoreApi } from "./store.ts";

export const MAX_PANES = 16;

export interface WorkspaceState {
  /** In the order in which they stand. Never empty. */
  readonly panes: readonly Pane[];
  /** The one that is seen where there is room for one only. */
  readonly current: number;
}

/** The open panes. A number (and with it a colour) that was given back is given out again last. */
export class Workspace {
  readonly store: ReadonlyStore<WorkspaceState>;
  readonly #store: StoreApi<WorkspaceState>;
  readonly #context: PaneContext;
  readonly #freeNumbers = Array.from({ length: MAX_PANES }, (_, index) => index + 1);

  constructor(context: PaneContext) {
    this.#context = context;
    const first = this.#open();
    this.#store = createStore<WorkspaceState>(() => ({ panes: first ? [first] : [], current: 1 }));
    this.store = this.#store;
  }

  /** Null when there are sixteen already. */
  addPane(): Pane | null {
    const pane = this.#open();
    if (pane) this.#store.setState({ panes: [...this.store.getState().panes, pane], current: pane.number });
    return pane;
  }

  /** Closes a pane and returns the one that takes its place: its neighbour, or a new one where it was the last. */
  closePane(closed: Pane): Pane | null {
    const { panes, current } = this.store.getState();
    const at = panes.indexOf(closed);
    if (at < 0) return null;
    closed.close();
    const others = panes.filter((pane) => pane !== closed);
    const heir = others[at] ?? others[at - 1] ?? this.#open();
    this.#freeNumbers.push(closed.number);
    if (heir === null) return null;
    this.#store.setState({
      panes: others.length > 0 ? others : [heir],
      current: current === closed.number ? heir.number : current,
    });
    return heir;
  }

  select(number: number): void {
    if (number !== this.#store.getState().current) this.#store.setState({ current: number });
  }

  #open(): Pane | null {
    const number = this.#freeNumbers.shift();
    return number === undefined ? null : new Pane(number, this.#context);
  }
}
