import { createStore } from "zustand/vanilla";

import { toErrorData } from "../../src/protocol/errors.ts";
import { MEASURE_SECONDS, measureOptions, type BenchOptions } from "./bench-options.ts";
import type { BenchResult } from "../report/bench-result.ts";
import { runBenchmark, type RunBenchmarkOptions } from "./run-benchmark.ts";

export interface BenchState {
  readonly status: "idle" | "running" | "done" | "stopped" | "failed";
  /** 0..1 */
  readonly share: number;
  /** The current measurement, or why it failed. */
  readonly what: string;
  /** Estimated remaining seconds of the run. */
  readonly leftSeconds: number;
  /** The figures so far. */
  readonly result: BenchResult | null;
}

type BenchSetting = Pick<RunBenchmarkOptions, "createEngine" | "embeddedModel" | "browser">;

const NOTHING_RUN: BenchState = { status: "idle", share: 0, what: "", leftSeconds: 0, result: null };

/** Starts, follows and stops the page's one run. */
export class BenchControl {
  readonly store = createStore<BenchState>(() => NOTHING_RUN);
  readonly #setting: BenchSetting;
  #abort: AbortController | null = null;

  constructor(setting: BenchSetting) {
    this.#setting = setting;
  }

  /** Measures one number, in about MEASURE_SECONDS. */
  measure(options: BenchOptions): Promise<void> {
    return this.run(measureOptions(options), MEASURE_SECONDS);
  }

  /** @param mostSeconds if given, the run is to take hardly longer */
  async run(options: BenchOptions, mostSeconds?: number): Promise<void> {
    if (this.#abort) return;
    const { signal } = (this.#abort = new AbortController());
    this.store.setState({ ...NOTHING_RUN, status: "running" });
    try {
      const result = await runBenchmark({
        ...this.#setting,
        options,
        signal,
        mostSeconds,
        onProgress: (share, what, leftSeconds) => this.store.setState({ share, what, leftSeconds }),
        onResult: (soFar) => this.store.setState({ result: soFar }),
      });
      this.store.setState({ status: "done", share: 1, what: "", result });
    } catch (error) {
      const status = signal.aborted ? "stopped" : "failed";
      this.store.setState({ status, what: signal.aborted ? "" : toErrorData(error).message });
    } finally {
      this.#abort = null;
    }
  }

  /** Stops the run and keeps its figures. */
  stop(): void {
    this.#abort?.abort();
  }
}
