import { createStore } from "zustand/vanilla";

import { toErrorData } from "../protocol/errors.ts";
import type { BenchOptions } from "./bench-options.ts";
import type { BenchResult } from "./report/bench-result.ts";
import { runBenchmark, type RunBenchmarkOptions } from "./run-benchmark.ts";

export interface BenchState {
  readonly status: "idle" | "running" | "done" | "stopped" | "failed";
  /** 0..1 */
  readonly share: number;
  /** What is being measured, or why it failed. */
  readonly what: string;
  /** The figures so far. */
  readonly result: BenchResult | null;
}

type BenchSetting = Pick<RunBenchmarkOptions, "createEngine" | "embeddedModel" | "browser">;

/** Starts, follows and stops the page's one run. */
export class BenchControl {
  readonly store = createStore<BenchState>(() => ({ status: "idle", share: 0, what: "", result: null }));
  readonly #setting: BenchSetting;
  #abort: AbortController | null = null;

  constructor(setting: BenchSetting) {
    this.#setting = setting;
  }

  async run(options: BenchOptions): Promise<void> {
    if (this.#abort) return;
    const { signal } = (this.#abort = new AbortController());
    this.store.setState({ status: "running", share: 0, what: "", result: null });
    try {
      const result = await runBenchmark({
        ...this.#setting,
        options,
        signal,
        onProgress: (share, what) => this.store.setState({ share, what }),
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
