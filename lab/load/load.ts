import type { ChorusEngine } from "../../src/protocol/engine.ts";
import type { StepReport } from "../../src/protocol/reports.ts";
import type { Random } from "../seeded-random.ts";
import type { LoadRun, OutputChunk, RequestRecord } from "./serving-metrics.ts";

export interface LoadRequest<Prompt = readonly number[]> {
  /** Token ids, or a text. */
  readonly prompt: Prompt;
  /** Exact number of output tokens; the end-of-text token is ignored. */
  readonly outputTokens: number;
}

interface SendOptions {
  readonly signal?: AbortSignal;
  /** When each request comes, from the start. [all at once] */
  readonly arrivalsMs?: readonly number[];
  /** Limit of concurrent requests; the others wait here. [no limit] */
  readonly maxConcurrency?: number | null;
}

interface LoadOptions extends SendOptions {
  readonly signal: AbortSignal;
  /** The rate that the arrivals were drawn with. [Infinity] */
  readonly requestRate?: number;
}

/** Sends requests as they come and reads every stream to its end, greedily. One that fails is a record, no error. */
export async function runLoad(
  engine: ChorusEngine,
  requests: readonly LoadRequest[],
  { requestRate = Infinity, maxConcurrency = null, ...options }: LoadOptions,
): Promise<LoadRun> {
  const { signal } = options;
  const read = ({ prompt, outputTokens }: LoadRequest) => {
    const fields = { prompt: [...prompt], max_tokens: outputTokens, temperature: 0, ignore_eos: true };
    // A chunk for every token, also for one that adds no text.
    const body = { ...fields, stream: true, return_token_ids: true } as const;
    const send = () => engine.completions.create(body, { signal });
    return readStream(send, { promptTokens: prompt.length, signal });
  };
  const [sent, steps] = await withSteps(engine, () => sendAll(requests, read, { maxConcurrency, ...options }));
  return { requestRate, maxConcurrency, ...sent, steps };
}

/** Returns what something comes to, and the steps that the engine made meanwhile. */
export async function withSteps<T>(
  engine: ChorusEngine,
  work: () => Promise<T>,
): Promise<readonly [T, readonly StepReport[]]> {
  const steps: StepReport[] = [];
  const unsubscribe = engine.on("step", (report) => steps.push(report));
  try {
    return [await work(), steps];
  } finally {
    unsubscribe();
  }
}

export async function sendAll<Request>(
  requests: readonly Request[],
  send: (request: Request) => Promise<RequestRecord>,
  { signal, arrivalsMs = [], maxConcurrency = null }: SendOptions = {},
): Promise<Pick<LoadRun, "durationMs" | "records">> {
  const startMs = performance.now();
  const records: RequestRecord[] = [];
  // Whoever is free takes the next one: first come, first served.
  const queue = requests.entries();
  const sendNext = async () => {
    for (const [i, request] of queue) {
      await sleepUntil(startMs + (arrivalsMs[i] ?? 0), signal);
      records[i] = await send(request);
    }
  };
  const atOnce = Math.min(maxConcurrency ?? Infinity, requests.length);
  await Promise.all(Array.from({ length: atOnce }, sendNext));
  return { durationMs: performance.now() - startMs, records };
}

interface StreamChunk {
  readonly choices?: readonly { readonly text: string; readonly token_ids?: readonly number[] | null }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null | undefined;
}

interface ReadOptions {
  /** [as the stream's usage says] */
  readonly promptTokens?: number;
  readonly signal?: AbortSignal;
}

/** Reads a stream of OpenAI's completions to its end. A request that fails is a record with an error. */
export async function readStream(
  send: () => Promise<AsyncIterable<StreamChunk>>,
  { signal, ...given }: ReadOptions = {},
): Promise<RequestRecord> {
  const chunks: OutputChunk[] = [];
  const sentMs = performance.now();
  let { promptTokens = 0 } = given;
  let missing = 0;
  let error: string | null = null;
  try {
    for await (const { choices: [choice] = [], usage } of await send()) {
      const tokens = choice ? (choice.token_ids?.length ?? 1) : 0;
      if (tokens > 0) chunks.push({ atMs: performance.now(), tokens });
      promptTokens = usage?.prompt_tokens ?? promptTokens;
      // A chunk may hold several tokens; the server knows how many there were.
      missing = (usage?.completion_tokens ?? chunks.length) - chunks.length;
    }
  } catch (thrown) {
    signal?.throwIfAborted();
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  const last = chunks.pop();
  if (last) chunks.push({ ...last, tokens: Math.max(0, last.tokens + missing) });
  return { promptTokens, sentMs, chunks, error };
}

async function sleepUntil(atMs: number, signal?: AbortSignal): Promise<void> {
  const waitMs = atMs - performance.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  signal?.throwIfAborted();
}

/**
 * Returns when each of `count` requests arrives, in milliseconds from the start: a Poisson process (independent, exponential
 * gaps), stretched so that the last one comes after exactly count / rate seconds, as vLLM's benchmark does. A rate of
 * Infinity is all at once.
 */
export function poissonArrivalsMs(count: number, requestsPerSecond: number, random: Random): number[] {
  if (requestsPerSecond === Infinity) return Array.from({ length: count }, () => 0);
  let at = 0;
  const arrivals = Array.from({ length: count }, () => (at += -Math.log(1 - random())));
  const scale = at === 0 ? 0 : (1000 * count) / requestsPerSecond / at;
  return arrivals.map((arrival) => arrival * scale);
}
