import type { RequestReport, StepReport } from "../../protocol/reports.ts";
import type { EngineOptions } from "../engine-options.ts";
import type { SequenceOutput } from "../text/output.ts";

/** What has happened and has not been told yet. */
export class Outbox {
  readonly #onOutputs: EngineOptions["onOutputs"];
  #outputs: SequenceOutput[] = [];
  #requests: RequestReport[] = [];
  #emitting = false;

  constructor(onOutputs: EngineOptions["onOutputs"]) {
    this.#onOutputs = onOutputs;
  }

  addOutput(output: SequenceOutput): void {
    this.#outputs.push(output);
  }

  addReport(report: RequestReport): void {
    this.#requests.push(report);
  }

  clear(): void {
    this.#outputs = [];
    this.#requests = [];
  }

  /** Hands over what has happened. A listener may add or abort: that is handed over when it returns, in order. */
  emit(report: StepReport | null): void {
    if (this.#emitting) return;
    this.#emitting = true;
    try {
      while (report !== null || this.#outputs.length > 0 || this.#requests.length > 0) {
        const outputs = this.#outputs;
        const requests = this.#requests;
        this.clear();
        this.#onOutputs(outputs, report, requests);
        report = null;
      }
    } finally {
      this.#emitting = false;
    }
  }
}
