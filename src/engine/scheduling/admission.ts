import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { groupedNumber } from "../../protocol/grouped-number.ts";
import { endTokensOf } from "../beams/beam-group.ts";
import type { EngineRequest } from "../engine-request.ts";
import { MAX_TOP_CANDIDATES } from "../sampling/sampling-params.ts";
import type { SchedulerConfig } from "./scheduler-config.ts";

type BeamLimit = "maxNumSeqs" | "blockSize" | "numGpuBlocks" | "numStateSlots";
export type Limits = Pick<ResolvedEngineConfig, "maxModelLen" | "blockSize" | "numGpuBlocks">;

/** Numbers of sequences that run, wait, and may run. */
interface QueueLoad {
  readonly numRunning: number;
  readonly numWaiting: number;
  readonly capacity: number;
}

/** Returns the most tokens, prompt and output together, that a sequence can have: the context or the whole cache. */
export function maxSequenceLength(limits: Limits): number {
  return Math.min(limits.maxModelLen, limits.numGpuBlocks * limits.blockSize);
}

/**
 * Refuses requests that could never run, so that every sequence in the queue gets its turn.
 * @param param the request's field with the prompt, for the error
 * @throws ChorusError invalid_value, context_length_exceeded, cache_capacity_exceeded
 */
export function checkAdmission(promptLength: number, maxTokens: number, param: string, limits: Limits): void {
  const { maxModelLen, blockSize, numGpuBlocks } = limits;
  const total = promptLength + maxTokens;

  if (promptLength === 0) {
    throw new ChorusError("invalid_value", "The prompt is empty; it must have at least one token.", param);
  }
  if (promptLength >= maxModelLen) {
    throw new ChorusError(
      "context_length_exceeded",
      `This is ${tokens(promptLength)}; the model reads ${groupedNumber(maxModelLen)}, answer included. ` +
        `Shorten the prompt by at least ${tokens(promptLength - maxModelLen + 1)}.`,
      param,
    );
  }
  if (total > maxModelLen) {
    throw new ChorusError(
      "context_length_exceeded",
      `The prompt has ${tokens(promptLength)} and max_tokens is ${groupedNumber(maxTokens)}; together that is more than ` +
        `this model's ${groupedNumber(maxModelLen)}. Shorten the prompt by ${tokens(total - maxModelLen)} or lower ` +
        `max_tokens to ${groupedNumber(maxModelLen - promptLength)}.`,
      param,
    );
  }
  const capacity = numGpuBlocks * blockSize;
  if (total > capacity) {
    throw new ChorusError(
      "cache_capacity_exceeded",
      `The prompt has ${tokens(promptLength)} and max_tokens is ${groupedNumber(maxTokens)}; together that is more than the ` +
        `${tokens(capacity)} that the whole key/value cache holds (${groupedNumber(numGpuBlocks)} blocks of ${blockSize}). ` +
        `Shorten the prompt, lower max_tokens, or start the engine with a larger kvCacheBytes.`,
      param,
    );
  }
}

/** @throws ChorusError like checkAdmission, checkBeams and checkQueue */
export function checkRequests(
  requests: readonly EngineRequest[],
  eosTokenIds: ReadonlySet<number>,
  load: QueueLoad,
  config: Limits & Pick<ResolvedEngineConfig, "maxNumSeqs" | "maxQueueSize"> & Pick<SchedulerConfig, "numStateSlots">,
): void {
  for (const request of requests) {
    checkAdmission(request.prompt.length, request.params.maxTokens, request.param, config);
    checkBeams(request, eosTokenIds, config);
  }
  // A beam search queues one sequence; it forks while it runs.
  const numSequences = requests.reduce((sum, { n, beamSearch }) => sum + (beamSearch === null ? n : 1), 0);
  checkQueue(numSequences, load, config.maxQueueSize);
}

/**
 * Refuses a beam search whose beams can't all run at once, or that needs more candidates than a step returns.
 * @throws ChorusError invalid_value, cache_capacity_exceeded
 */
export function checkBeams(
  request: Pick<EngineRequest, "prompt" | "params" | "beamSearch">,
  eosTokenIds: ReadonlySet<number>,
  { maxNumSeqs, blockSize, numGpuBlocks, numStateSlots = 0 }: Pick<SchedulerConfig, BeamLimit>,
): void {
  const { prompt, params, beamSearch } = request;
  if (beamSearch === null) return;
  const { numBeams } = beamSearch;
  if (numBeams > maxNumSeqs) {
    const message = `${numBeams} beams are more than the ${maxNumSeqs} sequences that run at once (maxNumSeqs).`;
    throw new ChorusError("invalid_value", message, "best_of");
  }
  // A fork begins with a state that is kept.
  if (numStateSlots > 0 && numBeams >= numStateSlots) {
    const message =
      `${numBeams} beams are too many: the cache has room for the states of ${numStateSlots} sequences, and one is kept for ` +
      `forks. Ask for fewer beams, or start the engine with a larger kvCacheBytes.`;
    throw new ChorusError("cache_capacity_exceeded", message, "best_of");
  }
  const numEnds = endTokensOf(request, eosTokenIds).size;
  if (numBeams + numEnds > MAX_TOP_CANDIDATES) {
    const message =
      `${numBeams} beams and ${numEnds} end tokens are too many: together they may be at most ` +
      `${MAX_TOP_CANDIDATES}. Ask for fewer beams or fewer stop_token_ids.`;
    throw new ChorusError("invalid_value", message, "best_of");
  }
  const blocks = numBeams * Math.ceil((prompt.length + params.maxTokens) / blockSize);
  if (blocks > numGpuBlocks) {
    const message =
      `${numBeams} beams of ${tokens(prompt.length + params.maxTokens)} may need ${blocks} cache blocks, and there are ` +
      `${numGpuBlocks}. Ask for fewer beams, lower max_tokens, or start the engine with a larger kvCacheBytes.`;
    throw new ChorusError("cache_capacity_exceeded", message, "best_of");
  }
}

/**
 * Refuses sequences that don't fit the queue. Sequences that can start at once don't count.
 * @throws ChorusError queue_full; invalid_value if even an idle engine couldn't take that many
 */
function checkQueue(n: number, { numRunning, numWaiting, capacity }: QueueLoad, maxQueueSize: number): void {
  if (numRunning + numWaiting + n - capacity <= maxQueueSize) return;
  if (numRunning + numWaiting === 0) {
    const message = `A request of ${n} sequences is too large; at most ${capacity + maxQueueSize} can run and wait.`;
    throw new ChorusError("invalid_value", message, "n");
  }
  const message = `${numRunning} sequences run and ${numWaiting} wait; at most ${maxQueueSize} may wait. Try again later.`;
  throw new ChorusError("queue_full", message);
}

function tokens(count: number): string {
  return count === 1 ? "1 token" : `${groupedNumber(count)} tokens`;
}
