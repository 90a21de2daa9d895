import type { EngineRequest } from "./engine-options.ts";
import { Sequence } from "./sequence.ts";

/** The choices of a request, each with a seed of its own. The first leads: the others share its prompt's blocks. */
export function sequencesOf(request: EngineRequest, arrivalMs: number, maxLength: number): Sequence[] {
  const { requestId, prompt, params, n, priority, cacheSalt, deadlineMs } = request;
  const sequences: Sequence[] = [];
  for (let index = 0; index < n; index++) {
    sequences.push(
      new Sequence({
        requestId,
        index,
        params: { ...params, seed: addToSeed(params.seed, index) },
        prompt,
        arrivalMs,
        maxLength,
        priority,
        cacheSalt,
        deadlineMs: deadlineMs === null ? Infinity : arrivalMs + deadlineMs,
        leader: sequences[0] ?? null,
      }),
    );
  }
  return sequences;
}

/** Seeds are the integers below 2^53 and wrap around. */
function addToSeed(seed: number, offset: number): number {
  const wrapped = seed - 2 ** 53 + offset;
  return wrapped < 0 ? seed + offset : wrapped;
}
