import type { Alert, ChorusEngine } from "../../../index.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

/** The engine's alerts that are raised now, the newest first. */
export class BatchAlerts {
  readonly #store = createStore<readonly Alert[]>(() => []);
  readonly store: ReadonlyStore<readonly Alert[]> = this.#store;
  #engine: object | null = null;

  /** Watches this engine from now on; null: there is none. */
  watch(engine: Pick<ChorusEngine, "on"> | null): void {
    this.#engine = engine;
    this.#store.setState([], true);
    engine?.on("alert", (alert) => {
      if (this.#engine !== engine) return;
      const others = this.#store.getState().filter(({ name }) => name !== alert.name);
      this.#store.setState(alert.status === "raised" ? [alert, ...others] : others, true);
    });
  }
}

export function alertWords({ name, value }: Pick<Alert, "name" | "value">): string {
  const percent = `${Math.round(100 * value)}%`;
  switch (name) {
    case "low_occupancy":
      return `${percent} of slots in use, others wait`;
    case "queue_length":
      return `${value} in the queue`;
    case "itl":
      return `${Math.round(value)} ms between tokens (p95)`;
    case "failure_rate":
      return `${percent} of the last requests failed (100 at most)`;
  }
}
