import { BlockLedger } from "../../../index.ts";
import { Batch } from "../batch/batch.ts";
import { FIGURES_INTERVAL_MS } from "../batch/batch-metrics.ts";
import { CHARTS_WINDOW_MS } from "../batch/charts.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** Factors of the run's own speed: a quick engine's steps take milliseconds. */
export const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8] as const;
/** Time to watch a run if its own is shorter. */
const SHORTEST_PLAY_MS = 10_000;

/** Returns the speed to begin with: the run's own, unless it would be over at once. */
function defaultSpeed({ playMs }: RecordedRun): number {
  const wholeMs = playMs.at(-1) ?? 0;
  return SPEEDS.findLast((speed) => speed <= 1 && wholeMs / speed >= SHORTEST_PLAY_MS) ?? SPEEDS[0];
}

export interface PlayerState {
  /** Number of finished steps. */
  readonly place: number;
  readonly isPlaying: boolean;
  readonly speed: number;
}

/** Plays a recorded run: the views of the batch get its events up to any step, by the run's clock, as they did then. */
export class Player {
  readonly run: RecordedRun;
  readonly batch: Batch;
  readonly #store;
  readonly store: ReadonlyStore<PlayerState>;
  /** Knows the cache's map as it was after the events so far. */
  #ledger: BlockLedger;
  /** The run's clock at the current place. */
  #clockMs = 0;
  /** The moment of playing, which moves between places too. */
  #playMs = 0;
  /** When charts took their last sample, by the run's clock; null: before the first step. */
  #sampledMs: number | null = null;

  constructor(run: RecordedRun) {
    this.run = run;
    this.store = this.#store = createStore<PlayerState>(() => ({
      place: 0,
      isPlaying: false,
      speed: defaultSpeed(run),
    }));
    this.batch = new Batch(() => this.#clockMs);
    this.#ledger = this.#begin();
    this.#notify(-1, 0);
    this.batch.refresh();
  }

  /** Plays or pauses; from the first step again if it was at the end. */
  togglePlay(): void {
    const numSteps = this.run.steps.length;
    const { isPlaying, place } = this.store.getState();
    if (!isPlaying && (place === 0 || place === numSteps)) this.seek(1);
    if (isPlaying) this.#pause();
    else this.#store.setState({ isPlaying: numSteps > 0 });
  }

  setSpeed(speed: number): void {
    this.#store.setState({ speed });
  }

  seek(place: number): void {
    const bounded = Math.max(0, Math.min(this.run.steps.length, Math.round(place)));
    this.#playMs = this.run.playMs[bounded] ?? 0;
    this.#goTo(bounded);
    this.#pause();
  }

  /** Advances by this real time while it plays. */
  advance(elapsedMs: number): void {
    const { isPlaying, speed } = this.store.getState();
    if (!isPlaying) return;
    this.#playMs += elapsedMs * speed;
    const place = this.run.placeAt(this.#playMs);
    this.#goTo(place);
    if (place === this.run.steps.length) this.#pause();
  }

  /** Charts show every step where it rests. While it plays they move with their samples, as they did then. */
  #pause(): void {
    this.batch.refreshCharts();
    this.#store.setState({ isPlaying: false });
  }

  #goTo(place: number): void {
    const { place: before } = this.store.getState();
    if (place === before) return;
    if (place < before) {
      this.#ledger = this.#begin();
      this.#notify(-1, place);
    } else this.#notify(before, place);
    this.batch.refresh();
    this.#store.setState({ place });
  }

  #begin(): BlockLedger {
    const { model, config } = this.run.recording;
    const ledger = new BlockLedger(model, config.enablePrefixCaching);
    this.#clockMs = 0;
    this.#sampledMs = null;
    this.batch.show({ config, kvCacheMap: async () => ledger.map() });
    return ledger;
  }

  /** Emits the events between two places. Charts take the same samples as then, as far as they can still show them. */
  #notify(from: number, to: number): void {
    const endMs = this.run.steps[to - 1]?.atMs ?? 0;
    for (const event of this.run.eventsBetween(from, to)) {
      if (event.type === "step") {
        this.#sampleUpTo(event.atMs, endMs - CHARTS_WINDOW_MS);
        this.#ledger.addStep(event);
        this.batch.addStep(event);
      } else if (event.type === "request") {
        this.#ledger.addRequest(event);
        this.batch.addRequest(event);
      }
    }
  }

  #sampleUpTo(atMs: number, shownFromMs: number): void {
    // A pause longer than the charts' window leaves them empty, however long it is.
    let next = Math.max((this.#sampledMs ?? atMs) + FIGURES_INTERVAL_MS, shownFromMs, atMs - CHARTS_WINDOW_MS);
    for (; next <= atMs; next += FIGURES_INTERVAL_MS) {
      this.#clockMs = next;
      this.batch.tick();
    }
    this.#sampledMs = next - FIGURES_INTERVAL_MS;
    this.#clockMs = atMs;
  }
}
