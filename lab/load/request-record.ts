// vLLM's four latencies of one stream, as its reader saw them. All times are milliseconds of the page's clock.

/** Tokens that came together: one chunk. */
export interface OutputChunk {
  readonly atMs: number;
  readonly tokens: number;
}

export interface RequestRecord {
  readonly promptTokens: number;
  readonly sentMs: number;
  /** Time in the client's own queue, because of its limit of concurrent requests; not part of the latencies. */
  readonly clientQueueMs: number;
  readonly chunks: readonly OutputChunk[];
  /** null if it succeeded. */
  readonly error: string | null;
}

export function outputTokensOf({ chunks }: RequestRecord): number {
  return chunks.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Returns the time to the first token; NaN if none came. */
export function ttftMs({ sentMs, chunks }: RequestRecord): number {
  return (chunks[0]?.atMs ?? NaN) - sentMs;
}

/** Returns the end-to-end latency: until the last token. */
export function e2elMs({ sentMs, chunks }: RequestRecord): number {
  return (chunks.at(-1)?.atMs ?? NaN) - sentMs;
}

/** Returns the inter-token latencies: the gaps between streamed outputs. */
export function itlsMs({ chunks }: RequestRecord): number[] {
  return chunks.slice(1).map(({ atMs }, i) => atMs - (chunks[i]?.atMs ?? NaN));
}

/** Returns the time per output token after the first; null for a single token, which has none. */
export function tpotMs(record: RequestRecord): number | null {
  const outputTokens = outputTokensOf(record);
  return outputTokens > 1 ? (e2elMs(record) - ttftMs(record)) / (outputTokens - 1) : null;
}
