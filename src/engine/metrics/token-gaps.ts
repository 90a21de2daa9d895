import type { RequestReport, StepReport } from "../../protocol/reports.ts";

/**
 * Inter-token latencies: the time between two tokens of one sequence that follow each other. What a preemption costs a
 * sequence that has begun to speak is among them, since its next token comes that much later.
 */
export class TokenGaps {
  /** When each sequence that speaks got its newest token. */
  readonly #lastTokenMs = new Map<string, number>();

  /** The gaps that a step's tokens close, in milliseconds. To be called before the step's request reports are. */
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
