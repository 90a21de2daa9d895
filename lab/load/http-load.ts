// Load on a server of OpenAI's API, as `vllm bench serve` makes it: the same requests, the same clock, the same figures.

import { createParser } from "eventsource-parser";
import type { OutputChunk, RequestRecord } from "./request-record.ts";

/** One request of a load. */
export interface HttpRequest {
  readonly prompt: string;
  /** Exact number of output tokens; the end-of-text token is ignored. */
  readonly outputTokens: number;
}

interface Chunk {
  readonly choices?: readonly unknown[];
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
  readonly error?: { readonly message?: string };
}

export interface HttpTarget {
  /** "http://127.0.0.1:8000/v1" */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

/** Longer than any queue before a stream should be. */
const STREAM_MS = 3_600_000;

/** Reads one stream. A request that fails is a record with an error. */
export async function readHttpStream(
  { baseUrl, model, apiKey }: HttpTarget,
  { prompt, outputTokens }: HttpRequest,
  clientQueueMs = 0,
): Promise<RequestRecord> {
  const chunks: OutputChunk[] = [];
  const sentMs = performance.now();
  let promptTokens = 0;
  let error: string | null = null;
  let countedTokens: number | null = null;
  const read = (data: string) => {
    const atMs = performance.now();
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error) error = chunk.error.message ?? "The server failed.";
    promptTokens = chunk.usage?.prompt_tokens ?? promptTokens;
    countedTokens = chunk.usage?.completion_tokens ?? countedTokens;
    if (chunk.choices?.length) chunks.push({ atMs, tokens: 1 });
  };
  try {
    const response = await fetch(`${baseUrl}/completions`, {
      method: "POST",
      signal: AbortSignal.timeout(STREAM_MS),
      headers: { "content-type": "application/json", ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify({
        model,
        prompt,
        temperature: 0,
        max_tokens: outputTokens,
        ignore_eos: true,
        stream: true,
        stream_options: { include_usage: true },
      }),
    });
    if (!response.ok || response.body === null) throw new Error(`${response.status}: ${await response.text()}`);
    const parser = createParser({ onEvent: ({ data }) => read(data) });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) parser.feed(part.value);
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  // A chunk may hold several tokens; the server knows how many there were.
  const missing = (countedTokens ?? chunks.length) - chunks.length;
  const last = chunks.pop();
  if (last) chunks.push({ ...last, tokens: Math.max(0, last.tokens + missing) });
  return { promptTokens, sentMs, clientQueueMs, chunks, error };
}
