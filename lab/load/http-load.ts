// Load on a server of OpenAI's API, as `vllm bench serve` makes it: the same requests, the same clock, the same figures.

import OpenAI from "openai";

import { readStream, type LoadRequest } from "./load.ts";
import type { RequestRecord } from "./serving-metrics.ts";

export interface HttpTarget {
  /** "http://127.0.0.1:8000/v1" */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

/** Longer than any queue before a stream should be. */
const STREAM_MS = 3_600_000;

export function readHttpStream(
  { baseUrl, model, apiKey }: HttpTarget,
  { prompt, outputTokens }: LoadRequest<string>,
): Promise<RequestRecord> {
  const client = new OpenAI({
    baseURL: baseUrl,
    apiKey: apiKey ?? "none",
    ...(apiKey === null && { defaultHeaders: { authorization: null } }),
    maxRetries: 0,
    timeout: STREAM_MS,
  });
  const body = {
    model,
    prompt,
    temperature: 0,
    max_tokens: outputTokens,
    ignore_eos: true,
    stream: true,
    stream_options: { include_usage: true },
  } as const;
  return readStream(() => client.completions.create(body));
}
