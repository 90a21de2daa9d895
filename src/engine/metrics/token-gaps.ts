import type { RequestReport, StepReport } from "../../protocol/reports.ts";

/**
 * Inter-token latencies: the time between two consecutive tokens of one sequence. They include what a preemption costs a
 * sequence that is generating, since its next token comes that much later.
 */
export class TokenGaps {
  /** When each generating sequence got its newest token. */
  readonly #lastTokenMs = new Map<string, number>();

  /** Returns the gaps that end with a step's tokens, in milliseconds. Must be called before the step's request reports. */
  observeStep({ entries, atMs }: StepReport): number[] {
    const gapsMs: number[] = [];
    for (const { requestId, index, sampled } of entries) {
      if (!sampled) continue;
      const key = keyOf(requestId, index);
      const lastMs = this.#lastTokenMs.get(key);
      // A first token closes no gap; its "first-token" report, which follows, opens the next one.
      if (lastMs === undefined) continue;
      gapsMs.push(atMs - lastMs);
      this.#lastTokenMs.set(key, atMs);
    }
    return gapsMs;
  }

  observeRequest({ requestId, index, status, firstTokenMs }: RequestReport): void {
    const key = keyOf(requestId, index);
    if (status === "finished") this.#lastTokenMs.delete(key);
    else if (firstTokenMs !== null) this.#lastTokenMs.set(key, firstTokenMs);
  }
}

function keyOf(requestId: string, index: number): string {
  return `${requestId}/${index}`;
}
