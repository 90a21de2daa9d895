// Replays a load under a scheduling policy: engine, scheduler and paged cache are the real ones; the clock moves by a model of
// step times, and every request's length is given.

import type { RequestRecord } from "../load/request-record.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineOptions } from "../../src/engine/engine-options.ts";
import type { StepResult } from "../../src/engine/runner.ts";
import { ROW_WORDS, type StepPlan } from "../../src/engine/step-plan.ts";
import type { StepReport } from "../../src/protocol/reports.ts";
import { PLAIN_REQUEST, ROOMY, samplingParams } from "../../tests/fakes/engine-harness.ts";
import { stepMsOf, type StepTimeModel } from "./step-time.ts";

export interface LoadedRequest {
  readonly arrivalMs: number;
  readonly promptTokens: number;
  /** Number of first prompt tokens that all requests share. */
  readonly sharedTokens: number;
  /** If fewer than maxTokens, the end-of-text token is the last. */
  readonly outputTokens: number;
  readonly maxTokens: number;
  readonly priority: number;
}

type EngineConfig = EngineOptions["config"];

export interface Load {
  readonly name: string;
  readonly requests: readonly LoadedRequest[];
  readonly config: Partial<EngineConfig>;
  readonly stepTime: StepTimeModel;
}

interface Replay {
  readonly durationMs: number;
  readonly records: readonly RequestRecord[];
  readonly steps: readonly StepReport[];
  /** The longest time from a request's arrival to its first rows. */
  readonly longestWaitMs: number;
  readonly numPreemptions: number;
}

const TOKEN = 1;
const END = 2;
const NO_BYTES = new Uint8Array();
const SHARED_TOKEN = 3;
/** Tokens that only one request has are this and its index. */
const OWN_TOKEN = 4;

export async function replayLoad(load: Load, config: Partial<EngineConfig> = {}): Promise<Replay> {
  const requests = load.requests.toSorted((a, b) => a.arrivalMs - b.arrivalMs);
  const chunks = requests.map((): { atMs: number; tokens: number }[] => []);
  const steps: StepReport[] = [];
  let nowMs = 0;
  let longestWaitMs = 0;
  const engine = new Engine({
    config: { ...ROOMY, maxModelLen: Infinity, blockSize: 16, enablePrefixCaching: true, ...load.config, ...config },
    runner: {
      submit: (plan) => {
        nowMs += stepMsOf(load.stepTime, sizeOf(plan));
        return Promise.resolve(draw(plan, requests));
      },
    },
    eosTokenIds: [END],
    tokenBytes: () => NO_BYTES,
    now: () => nowMs,
    delay: () => Promise.resolve(),
    onOutputs: (outputs, step, reports) => {
      if (step) steps.push(step);
      for (const { requestId, tokenIds } of outputs) {
        if (tokenIds.length > 0) chunks[Number(requestId)]?.push({ atMs: nowMs, tokens: tokenIds.length });
      }
      for (const { requestId, status, scheduledMs } of reports) {
        if (status !== "finished") continue;
        const arrivalMs = requests[Number(requestId)]?.arrivalMs ?? 0;
        longestWaitMs = Math.max(longestWaitMs, (scheduledMs ?? nowMs) - arrivalMs);
      }
    },
    onFatal: (error) => {
      throw error;
    },
  });

  let next = 0;
  for (;;) {
    for (let request = requests[next]; request && request.arrivalMs <= nowMs; request = requests[++next]) {
      // Draws are keyed by seeds, so a seed identifies the request of a draw.
      const params = samplingParams({ maxTokens: request.maxTokens, seed: next });
      const prompt = promptOf(request, next);
      engine.add({ ...PLAIN_REQUEST, requestId: `${next}`, prompt, params, priority: request.priority });
    }
    if (await engine.step()) continue;
    const request = requests[next];
    if (!request) break;
    nowMs = Math.max(nowMs, request.arrivalMs);
  }
  const records = requests.map(({ arrivalMs, promptTokens }, i) => {
    return { promptTokens, sentMs: arrivalMs, clientQueueMs: 0, chunks: chunks[i] ?? [], error: null };
  });
  const durationMs = nowMs - (requests[0]?.arrivalMs ?? 0);
  return { durationMs, records, steps, longestWaitMs, numPreemptions: engine.stats().num_preemptions_total };
}

function promptOf({ promptTokens, sharedTokens }: LoadedRequest, index: number): number[] {
  return Array.from({ length: promptTokens }, (_, i) => (i < sharedTokens ? SHARED_TOKEN : OWN_TOKEN + index));
}

function sizeOf({ rows }: StepPlan): { rows: number; attended: number } {
  let attended = 0;
  for (let at = 0; at < rows.length; at += ROW_WORDS) attended += (rows[at + 1] ?? 0) + 1;
  return { rows: rows.length / ROW_WORDS, attended };
}

/** Draws the same token for every output, up to its request's given end. */
function draw(plan: StepPlan, requests: readonly LoadedRequest[]): StepResult {
  const tokens = plan.samples.map((sample) => {
    if (sample.kind === "score") return { tokenId: TOKEN, logprob: -1 };
    const request = requests[sample.params.seed];
    const isLast = sample.outputIndex + 1 === request?.outputTokens && request.outputTokens < request.maxTokens;
    return { tokenId: isLast ? END : TOKEN, logprob: -1 };
  });
  let at = 0;
  const sequences = plan.sequences.map(({ numDrawn }) => ({ scored: [], drawn: tokens.slice(at, (at += numDrawn)) }));
  return { sequences, gpuMs: null };
}
