import { ChorusError, toErrorData, type ChorusErrorData } from "../../protocol/errors.ts";
import type { FinishReason } from "../../protocol/openai.ts";
import { Detokenizer, type TokenBytes } from "./detokenizer.ts";
import type { SampledToken, TokenLogprob } from "../runner.ts";
import type { Sequence } from "../core/sequence.ts";
import { StopStringMatcher } from "./stop-string-matcher.ts";
import { checkStop, type Ending } from "./stopping.ts";

/** What a step adds to one sequence. */
export interface SequenceOutput {
  readonly requestId: string;
  /** Which of the request's choices. */
  readonly index: number;
  /** The new text. It may be empty: incomplete characters and possible stop strings are held back. */
  readonly text: string;
  /** The new tokens: one, or none on abort. They include a token that ends the sequence, though the text doesn't. */
  readonly tokenIds: readonly number[];
  /** Natural log of each new token's probability. */
  readonly logprobs: readonly number[];
  /** The most likely tokens in the place of each new token, as many as requested. */
  readonly topLogprobs: readonly (readonly TokenLogprob[])[];
  /** The scored prompt tokens, from the second one on: with the first output token, if requested. Else empty. */
  readonly promptScores: readonly SampledToken[];
  /** Prompt tokens that the prefix cache had when the sequence first ran. */
  readonly cachedTokens: number;
  /** Tokens that speculation drafted so far, and how many of them were accepted. */
  readonly draftTokens: number;
  readonly acceptedTokens: number;
  /** null while the sequence goes on. */
  readonly finishReason: FinishReason | null;
  readonly stopReason: number | string | null;
  /** Why its whole request has failed; null if it has not. */
  readonly error: ChorusErrorData | null;
  /** Score of an answer of beam search; else null. */
  readonly score: number | null;
}

export interface OutputOptions {
  readonly tokenBytes: TokenBytes;
  readonly eosTokenIds: ReadonlySet<number>;
  /** Most tokens, prompt and output together, that a sequence can have. */
  readonly maxLength: number;
}

/** Turns the tokens of one sequence into text and says when it ends: token -> bytes -> characters -> stop strings. */
export class OutputProcessor {
  readonly #sequence: Sequence;
  readonly #options: OutputOptions;
  readonly #detokenizer: Detokenizer;
  readonly #stopStrings: StopStringMatcher;

  constructor(sequence: Sequence, options: OutputOptions) {
    this.#sequence = sequence;
    this.#options = options;
    this.#detokenizer = new Detokenizer(options.tokenBytes);
    this.#stopStrings = new StopStringMatcher(sequence.params.stop, sequence.params.includeStopStrInOutput);
  }

  /** Takes the token that was just appended to the sequence. */
  push(token: SampledToken): SequenceOutput {
    const ending = checkStop(this.#sequence, this.#options.eosTokenIds, this.#options.maxLength);
    // The token that says "stop" is a signal, not text.
    const characters = ending?.finishReason === "stop" ? "" : this.#detokenizer.push(token.tokenId);
    const { text, stop } = this.#stopStrings.push(characters);
    if (stop !== null) return this.#output(token, text, { finishReason: "stop", stopReason: stop });
    if (ending === null) return this.#output(token, text, null);
    return this.#output(token, text + this.#stopStrings.flush() + this.#detokenizer.flush(), ending);
  }

  /** Ends the text with its last complete character. `reason` says what ended it, if not the caller. */
  abort(reason: string | ChorusError | null = null): SequenceOutput {
    const error = reason instanceof ChorusError ? toErrorData(reason) : null;
    const stopReason = reason instanceof ChorusError ? reason.code : reason;
    return this.#output(null, this.#stopStrings.flush(), { finishReason: "abort", stopReason }, error);
  }

  #output(
    token: SampledToken | null,
    text: string,
    ending: Ending | null,
    error: ChorusErrorData | null = null,
  ): SequenceOutput {
    return {
      requestId: this.#sequence.requestId,
      index: this.#sequence.index,
      text,
      tokenIds: token === null ? [] : [token.tokenId],
      logprobs: token === null ? [] : [token.logprob],
      topLogprobs: token === null ? [] : [token.top ?? []],
      promptScores: token !== null && this.#sequence.numOutputTokens === 1 ? this.#sequence.promptScores : [],
      cachedTokens: this.#sequence.numCachedTokens,
      draftTokens: this.#sequence.numDraftTokens,
      acceptedTokens: this.#sequence.numAcceptedTokens,
      finishReason: ending?.finishReason ?? null,
      stopReason: ending?.stopReason ?? null,
      error,
      score: this.#sequence.score,
    };
  }
}
