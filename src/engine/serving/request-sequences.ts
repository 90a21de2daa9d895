import { BeamGroup, endTokensOf } from "../beams/beam-group.ts";
import type { EngineRequest } from "../engine-request.ts";
import { Sequence, type SequenceFields } from "../sequence.ts";

/**
 * Returns the choices of a request, each with its own seed. The first is the leader: the others share its prompt's blocks.
 * The scheduler serves the choices themselves, or in beam search the beams; then the choices only receive the answers.
 */
export function sequencesOf(
  request: EngineRequest,
  arrivalMs: number,
  limits: { readonly maxLength: number; readonly eosTokenIds: ReadonlySet<number> },
) {
  const { requestId, prompt, params, n, beamSearch, priority, cacheSalt, deadlineMs } = request;
  const fields: SequenceFields = {
    requestId,
    index: 0,
    params,
    prompt,
    arrivalMs,
    maxLength: limits.maxLength,
    priority,
    cacheSalt,
    deadlineMs: deadlineMs === null ? Infinity : arrivalMs + deadlineMs,
  };
  const group = beamSearch && new BeamGroup(fields, beamSearch, n, endTokensOf(request, limits.eosTokenIds));
  const choices: Sequence[] = [];
  for (let index = 0; index < n; index++) {
    const seed = addToSeed(params.seed, index);
    const leader = choices[0] ?? null;
    const matcher = request.matchers?.[index] ?? null;
    choices.push(new Sequence({ ...fields, index, params: { ...params, seed }, leader, group, matcher }));
  }
  return { choices, served: group?.members ?? choices };
}

/** Seeds are the safe integers; the least one comes after the largest. */
function addToSeed(seed: number, offset: number): number {
  const beyond = seed - Number.MAX_SAFE_INTEGER + offset;
  return beyond <= 0 ? seed + offset : Number.MIN_SAFE_INTEGER + beyond - 1;
}
