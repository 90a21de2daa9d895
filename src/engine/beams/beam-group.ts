import { BeamHypotheses, type BeamToken, type Hypothesis } from "./beam-hypotheses.ts";
import type { EngineRequest } from "../engine-request.ts";
import type { TokenLogprob } from "../runner.ts";
import { LOWEST_LOGPROB, type BeamSearchParams } from "../sampling/sampling-params.ts";
import { Sequence, type SequenceFields, type SequenceGroup } from "../sequence.ts";

/** A partial answer. */
interface Beam {
  readonly sequence: Sequence;
  readonly tokens: readonly BeamToken[];
  /** Sum of the tokens' log-probabilities. */
  readonly sum: number;
  /** Likely next tokens, best first; null while they are unknown. */
  candidates: readonly BeamToken[] | null;
}

/** The outcome of one round of the search. */
export interface BeamRound {
  /** Sequences that no beam continues. */
  readonly dropped: readonly Sequence[];
  /** New sequences for the scheduler. */
  readonly forks: readonly Sequence[];
  /** At most one per choice, best first; null while the search goes on. */
  readonly answers: readonly Hypothesis[] | null;
}

/** Returns the tokens that end a request's sequences. */
export function endTokensOf({ params }: Pick<EngineRequest, "params">, eosTokenIds: ReadonlySet<number>): Set<number> {
  return new Set([...params.stopTokenIds, ...(params.ignoreEos ? [] : eosTokenIds)]);
}

/**
 * Beam search: Hugging Face's generate(num_beams). Each beam is a sequence. It is held until all beams have their most
 * likely next tokens; then the best continuations of all beams go on. A beam's best continuation stays in the beam's own
 * sequence. Others are forks, which share its full blocks and compute the rest of its last block again:
 *
 *   beams            candidates                 chosen (numBeams = 2)
 *   "a b"  -1.0      c -0.2,  d -0.3,  ...      "a b c" -1.2  stays
 *   "a x"  -1.1      y -0.9,  ...               "a b d" -1.3  a fork of it; "a x" is dropped
 *
 * The prompt is computed once: the search begins with one beam. A candidate that ends the answer becomes a finished
 * answer if it is among the best numBeams candidates. A beam needs only as many candidates as there are beams plus end
 * tokens: no more can be chosen.
 */
export class BeamGroup implements SequenceGroup {
  readonly #params: BeamSearchParams;
  readonly #fields: SequenceFields;
  readonly #ends: ReadonlySet<number>;
  readonly #numChoices: number;
  readonly #hypotheses: BeamHypotheses;
  #beams: readonly Beam[];

  /** @param fields of the beams; prompt and `params.maxTokens` together must fit a sequence */
  constructor(fields: SequenceFields, search: BeamSearchParams, numChoices: number, ends: ReadonlySet<number>) {
    this.#params = search;
    this.#ends = ends;
    this.#numChoices = numChoices;
    this.#hypotheses = new BeamHypotheses(search, fields.params.maxTokens);
    const topLogprobs = search.numBeams + ends.size;
    this.#fields = {
      ...fields,
      params: { ...fields.params, temperature: 0, topLogprobs, promptLogprobs: null },
      group: this,
    };
    this.#beams = [{ sequence: new Sequence(this.#fields), tokens: [], sum: 0, candidates: null }];
  }

  get numBeams(): number {
    return this.#params.numBeams;
  }

  get members(): readonly Sequence[] {
    return this.#beams.map(({ sequence }) => sequence);
  }

  /** Whether the search has found its answers or was aborted. */
  get isFinished(): boolean {
    return this.members.every((sequence) => sequence.isFinished);
  }

  /** Takes the most likely tokens after one of the beams, best first. Returns null until all beams have theirs. */
  deliver(sequence: Sequence, top: readonly TokenLogprob[]): BeamRound | null {
    const beam = this.#beams.find((one) => one.sequence === sequence);
    if (beam === undefined) throw new Error(`A beam of ${sequence.requestId} is not in its group.`);
    beam.candidates = top.filter(({ logprob }) => logprob > LOWEST_LOGPROB);
    return this.#beams.some(({ candidates }) => candidates === null) ? null : this.#advance();
  }

  hasCandidates(sequence: Sequence): boolean {
    return this.#beams.some((beam) => beam.sequence === sequence && beam.candidates !== null);
  }

  /** Gives a choice the figures of its beams, which its reports contain. */
  describe(choice: Sequence, { answers, dropped }: BeamRound): void {
    const beams = [...this.members, ...dropped];
    choice.describeBeams(beams, answers?.[choice.index]?.score ?? null);
  }

  #advance(): BeamRound {
    const { numBeams } = this.#params;
    const ranked = this.#beams
      .flatMap((beam) => (beam.candidates ?? []).map((token) => ({ beam, token, sum: beam.sum + token.logprob })))
      .sort((a, b) => b.sum - a.sum);
    const length = (this.#beams[0]?.tokens.length ?? 0) + 1;
    const chosen: typeof ranked = [];
    for (const [rank, candidate] of ranked.entries()) {
      const { beam, token, sum } = candidate;
      if (!this.#ends.has(token.tokenId)) chosen.push(candidate);
      else if (rank < numBeams) this.#hypotheses.add([...beam.tokens, token], sum);
      if (chosen.length === numBeams) break;
    }
    const best = ranked[0];
    if (best === undefined) return this.#finish(this.#beams); // the rules forbid every token
    if (this.#hypotheses.isDone(best.sum, length)) return this.#finish([]);
    const next = chosen.map(({ beam, token, sum }) => ({ beam, tokens: [...beam.tokens, token], sum }));
    if (next.length === 0 || length === this.#fields.params.maxTokens) return this.#finish(next);
    return this.#goOn(next);
  }

  #goOn(next: readonly (Pick<Beam, "tokens" | "sum"> & { readonly beam: Beam })[]): BeamRound {
    const continued = new Set<Sequence>();
    const forks: Sequence[] = [];
    const before = this.members;
    this.#beams = next.map(({ beam, tokens, sum }) => {
      const output = tokens.map(({ tokenId }) => tokenId);
      const { sequence: parent } = beam;
      if (continued.has(parent)) {
        const sequence = new Sequence({ ...this.#fields, output, leader: parent });
        forks.push(sequence);
        return { sequence, tokens, sum, candidates: null };
      }
      continued.add(parent);
      for (const tokenId of output.slice(-1)) parent.append(tokenId);
      return { sequence: parent, tokens, sum, candidates: null };
    });
    return { dropped: before.filter((sequence) => !continued.has(sequence)), forks, answers: null };
  }

  /** @param open beams that become answers although they are unfinished */
  #finish(open: readonly Pick<Beam, "tokens" | "sum">[]): BeamRound {
    for (const { tokens, sum } of open) if (tokens.length > 0) this.#hypotheses.add(tokens, sum);
    return { dropped: this.members, forks: [], answers: this.#hypotheses.best(this.#numChoices) };
  }
}
