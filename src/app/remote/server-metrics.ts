// Reads the figures of a server's batch from its Prometheus metrics, whatever software it runs.

import { rootOf } from "./address.ts";
import { askServer, type ServerAccess } from "./ask-server.ts";
import { readText } from "./read-text.ts";
import { RemoteError } from "./remote-error.ts";

const MAX_METRICS_BYTES = 4 * 2 ** 20;

/** A server's batch; null where the server has no such metric. */
export interface ServerBatch {
  readonly running: number | null;
  readonly waiting: number | null;
  /** 0..1 */
  readonly kvUse: number | null;
  /** Share of all prompt tokens since the server's start, 0..1. */
  readonly prefixHits: number | null;
  /** Tokens generated since the server's start. */
  readonly generatedTokens: number | null;
}

/** Names in vLLM (and Chorus, which uses them), SGLang, llama.cpp and Dynamo. */
const NAMES = {
  running: [
    "vllm:num_requests_running",
    "sglang:num_running_reqs",
    "llamacpp:requests_processing",
    "dynamo_frontend_inflight_requests",
  ],
  waiting: [
    "vllm:num_requests_waiting",
    "sglang:num_queue_reqs",
    "llamacpp:requests_deferred",
    "dynamo_frontend_queued_requests",
  ],
  kvUse: [
    "vllm:kv_cache_usage_perc",
    "vllm:gpu_cache_usage_perc",
    "sglang:token_usage",
    "llamacpp:kv_cache_usage_ratio",
  ],
  hitRate: ["sglang:cache_hit_rate"],
  hits: ["vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits"],
  queries: ["vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries"],
  generatedTokens: [
    "vllm:generation_tokens_total",
    "sglang:generation_tokens_total",
    "llamacpp:tokens_predicted_total",
  ],
} as const satisfies Record<string, readonly string[]>;

const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{[^}]*\})?\s+(\S+)/;

/** Reads a server's metrics. @throws RemoteError if none of them is about a batch */
export async function readServerBatch(access: ServerAccess, signal?: AbortSignal): Promise<ServerBatch> {
  const response = await askServer(access, `${rootOf(access.baseUrl)}/metrics`, signal && { signal });
  const batch = batchIn(await readText(response, MAX_METRICS_BYTES));
  if (batch.running !== null) return batch;
  throw new RemoteError(
    "server_answer_invalid",
    `The metrics of ${new URL(access.baseUrl).host} say nothing of a batch.`,
  );
}

export function batchIn(prometheusText: string): ServerBatch {
  const samples = new Map<string, number[]>();
  for (const line of prometheusText.split("\n")) {
    const [, name = "", text] = SAMPLE.exec(line) ?? [];
    const value = Number(text);
    if (name === "" || !Number.isFinite(value)) continue;
    const values = samples.get(name);
    if (values) values.push(value);
    else samples.set(name, [value]);
  }
  const valuesOf = (field: keyof typeof NAMES) => NAMES[field].map((name) => samples.get(name)).find(Boolean) ?? null;
  // A server may have several engines, each with samples of its own.
  const sum = (field: keyof typeof NAMES) => valuesOf(field)?.reduce((total, value) => total + value, 0) ?? null;
  const mean = (field: keyof typeof NAMES) => {
    const total = sum(field);
    return total === null ? null : total / (valuesOf(field)?.length ?? 1);
  };
  const queries = sum("queries");
  const hits = sum("hits");
  return {
    running: sum("running"),
    waiting: sum("waiting"),
    kvUse: mean("kvUse"),
    prefixHits: mean("hitRate") ?? (queries && hits !== null ? hits / queries : null),
    generatedTokens: sum("generatedTokens"),
  };
}
