import type { KernelsReport, RequestReport, StepReport } from "../../protocol/reports.ts";
import type { EngineOptions } from "../engine-options.ts";
import type { SequenceOutput } from "../text/output.ts";

/** Collects outputs and reports until they are emitted. */
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

  /** Emits everything collected. A listener may add or abort; what follows from that is emitted after it returns. */
  emit(report: StepReport | null, kernels: KernelsReport | null = null): void {
    if (this.#emitting) return;
    this.#emitting = true;
    try {
      while (report !== null || this.#outputs.length > 0 || this.#requests.length > 0) {
        const outputs = this.#outputs;
        const requests = this.#requests;
        this.clear();
        this.#onOutputs(outputs, report, requests, kernels);
        report = kernels = null;
      }
    } finally {
      this.#emitting = false;
    }
  }
}
