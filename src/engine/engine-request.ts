import type { GrammarMatcher } from "./sampling/grammar-matcher.ts";
import type { BeamSearchParams, SamplingParams } from "./sampling/sampling-params.ts";
import type { ReasoningStart } from "./text/reasoning-splitter.ts";

/** A request as the engine takes it: tokens, and how to draw more of them. */
export interface EngineRequest {
  /** Unique among open requests. */
  readonly requestId: string;
  readonly prompt: readonly number[];
  readonly params: SamplingParams;
  /** Number of choices. Choice i is its own sequence, with the seed params.seed + i. */
  readonly n: number;
  /** If set, the choices are the best n answers of this search; null samples each choice independently. */
  readonly beamSearch: BeamSearchParams | null;
  /** A grammar per choice, with its first mask prepared. The engine disposes of them. [none] */
  readonly matchers?: readonly GrammarMatcher[] | null;
  /** Where the output begins. ["none": it has no thought] */
  readonly reasoning?: ReasoningStart;
  /** Tokens for which a sign stands in the output's text, one of U+FDD0 to U+FDEF: what it calls is read from it. [none] */
  readonly signs?: readonly (readonly [tokenId: number, sign: string])[] | null;
  /** The request's field with the prompt ("messages", "prompt"), for error messages. */
  readonly param: string;
  readonly priority: number;
  readonly cacheSalt: string | null;
  /** Milliseconds after arrival at which the request is aborted; null for never. */
  readonly deadlineMs: number | null;
}
