import { tokensOf, type RequestReport, type StepReport } from "../../protocol/reports.ts";

/**
 * Inter-token latencies: the time between two consecutive tokens of one sequence. They include what a preemption costs a
 * sequence that is generating, since its next token comes that much later. Tokens of one step share the time since the
 * sequence's step before.
 */
export class TokenGaps {
  /** When each generating sequence got its newest token. */
  readonly #lastTokenMs = new Map<string, number>();

  /** Returns a gap per token of a step, in milliseconds. Must be called before the step's request reports. */
  observeStep({ entries, atMs }: StepReport): number[] {
    const gapsMs: number[] = [];
    for (const entry of entries) {
      const numTokens = tokensOf(entry);
      if (numTokens === 0) continue;
      const key = keyOf(entry.requestId, entry.index);
      const lastMs = this.#lastTokenMs.get(key);
      // A first token closes no gap; its "first-token" report, which follows, opens the next one.
      if (lastMs === undefined) continue;
      for (let i = 0; i < numTokens; i++) gapsMs.push((atMs - lastMs) / numTokens);
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
