import { tokensOf, type RequestReport, type StepReport } from "../../protocol/reports.ts";

/**
 * Inter-token latencies: the time between two consecutive tokens of one sequence. They include what a preemption costs a
 * sequence that is generating, since its next token comes that much later. Tokens of one step share the time since the
 * sequence's step before.
 */
export class TokenGaps {
  /** Time of each generating sequence's newest token, by request, then by choice: a joined key would be hashed for every token. */
  readonly #lastTokenMs = new Map<string, Map<number, number>>();

  /** Returns a gap per token of a step, in milliseconds. Must be called before the step's request reports. */
  observeStep({ entries, atMs }: StepReport): number[] {
    const gapsMs: number[] = [];
    for (const entry of entries) {
      const numTokens = tokensOf(entry);
      if (numTokens === 0) continue;
      const choices = this.#lastTokenMs.get(entry.requestId);
      const lastMs = choices?.get(entry.index);
      // A first token closes no gap; its "first-token" report, which follows, opens the next one.
      if (choices === undefined || lastMs === undefined) continue;
      for (let i = 0; i < numTokens; i++) gapsMs.push((atMs - lastMs) / numTokens);
      choices.set(entry.index, atMs);
    }
    return gapsMs;
  }

  observeRequest({ requestId, index, status, firstTokenMs }: RequestReport): void {
    const choices = this.#lastTokenMs.get(requestId) ?? new Map<number, number>();
    if (status === "finished") choices.delete(index);
    else if (firstTokenMs !== null) choices.set(index, firstTokenMs);
    if (choices.size === 0) this.#lastTokenMs.delete(requestId);
    else this.#lastTokenMs.set(requestId, choices);
  }
}
