import type { ChorusEngine } from "../../src/protocol/engine.ts";
import { PLAIN } from "./requests.ts";

/** Watches how long ready answers get no row. Those that wait for a grammar or for other beams don't count. */
export class BackgroundFairness {
  longestGapSteps = 0;
  /** The last step with a row of each sequence that has had one and is not over. */
  readonly #lastStep = new Map<string, number>();
  #isPaused = false;

  constructor(engine: ChorusEngine) {
    engine.on("device", () => this.#lastStep.clear());
    engine.on("step", ({ step, entries, preempted }) => {
      if (this.#isPaused) return;
      for (const { requestId, index } of preempted) this.#lastStep.delete(`${requestId} ${index}`);
      for (const { requestId, index, finishReason } of entries) {
        if (!requestId.includes(PLAIN)) continue;
        if (finishReason === null) this.#lastStep.set(`${requestId} ${index}`, step);
        else this.#lastStep.delete(`${requestId} ${index}`);
      }
      for (const last of this.#lastStep.values()) this.longestGapSteps = Math.max(this.longestGapSteps, step - last);
    });
    // An abort is in no step's report.
    engine.on("request", ({ requestId, index, status }) => {
      if (status === "finished") this.#lastStep.delete(`${requestId} ${index}`);
    });
  }

  pause(): void {
    this.#isPaused = true;
    this.#lastStep.clear();
  }

  resume(): void {
    this.#isPaused = false;
  }
}
