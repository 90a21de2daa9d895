import { ChorusError, toErrorData, type ChorusErrorData } from "../../protocol/errors.ts";
import type { FinishReason } from "../../protocol/openai.ts";
import type { EngineRequest } from "../engine-request.ts";
import { Detokenizer, type TokenBytes } from "./detokenizer.ts";
import type { SampledToken, TokenLogprob } from "../runner.ts";
import type { Sequence } from "../sequence.ts";
import { NO_REASONING, ReasoningSplitter } from "./reasoning-splitter.ts";
import { StopStringMatcher } from "./stop-string-matcher.ts";
import { checkStop, type Ending } from "./stopping.ts";

/** A step's addition to one sequence. */
export interface SequenceOutput {
  readonly requestId: string;
  /** Index among the request's choices. */
  readonly index: number;
  /** The new text. It may be empty: incomplete characters, possible tags and possible stop strings are held back. */
  readonly text: string;
  /** The new text of the thought before it. */
  readonly reasoning: string;
  /** The new tokens: one, or none on abort. They include a token that ends the sequence, though the text doesn't. */
  readonly tokenIds: readonly number[];
  /** Natural log of each new token's probability. */
  readonly logprobs: readonly number[];
  /** The most likely tokens in the place of each new token, as many as requested. */
  readonly topLogprobs: readonly (readonly TokenLogprob[])[];
  /** The scored prompt tokens, from the second one on: with the first output token, if requested. Else empty. */
  readonly promptScores: readonly SampledToken[];
  /** Number of prompt tokens that the prefix cache had when the sequence first ran. */
  readonly cachedTokens: number;
  /** Number of tokens drafted by speculation so far, and of those accepted. */
  readonly draftTokens: number;
  readonly acceptedTokens: number;
  /** Number of tokens of the thought so far, with its tags. */
  readonly reasoningTokens: number;
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

interface NextText {
  readonly reasoning: string;
  readonly text: string;
  readonly ending: Ending | null;
}

/** Characters that are signs, of which no text may write one. */
const SIGNS = /[\ufdd0-\ufdef]/g;

/**
 * Turns the tokens of one sequence into text and decides when it ends: token -> bytes -> characters -> thought and content
 * -> stop strings, which apply to content only.
 */
export class OutputProcessor {
  readonly #sequence: Sequence;
  readonly #options: OutputOptions;
  readonly #detokenizer: Detokenizer;
  readonly #splitter: ReasoningSplitter;
  readonly #stopStrings: StopStringMatcher;
  readonly #signs: ReadonlyMap<number, string> | null;
  #reasoningTokens = 0;

  constructor(
    sequence: Sequence,
    { reasoning = NO_REASONING, signs = null }: Pick<EngineRequest, "reasoning" | "signs">,
    options: OutputOptions,
  ) {
    this.#sequence = sequence;
    this.#signs = signs === null ? null : new Map(signs);
    this.#options = options;
    this.#detokenizer = new Detokenizer(options.tokenBytes);
    this.#splitter = new ReasoningSplitter(reasoning, sequence.matcher !== null && signs === null);
    this.#stopStrings = new StopStringMatcher(sequence.params.stop, sequence.params.includeStopStrInOutput);
  }

  /** Takes the token that was just appended to the sequence. */
  push(token: SampledToken): SequenceOutput {
    const ending = checkStop(this.#sequence, this.#options.eosTokenIds, this.#options.maxLength);
    // The token that says "stop" is a signal, not text.
    const characters = ending?.finishReason === "stop" ? "" : this.#charactersOf(token.tokenId);
    const isInContent = ["none", "closed"].includes(this.#splitter.state);
    const text = this.#next(characters, ending);
    if (!isInContent && this.#splitter.hasThought) this.#reasoningTokens = this.#sequence.numOutputTokens;
    return this.#output(token, text);
  }

  /** Ends the text with its last complete character. `reason` is null if the caller ended it. */
  abort(reason: string | ChorusError | null = null): SequenceOutput {
    const error = reason instanceof ChorusError ? toErrorData(reason) : null;
    const stopReason = reason instanceof ChorusError ? reason.code : reason;
    const ending: Ending = { finishReason: "abort", stopReason };
    return this.#output(null, { ...this.#next("", ending), ending }, error);
  }

  #charactersOf(tokenId: number): string {
    // In a thought a marker is a text like others.
    const sign = this.#splitter.state === "open" ? undefined : this.#signs?.get(tokenId);
    if (sign !== undefined) return this.#detokenizer.flush() + sign;
    const text = this.#detokenizer.push(tokenId);
    return this.#signs === null ? text : text.replace(SIGNS, "\ufffd");
  }

  /** @param ending how the text ends, unless a stop string comes first */
  #next(characters: string, ending: Ending | null): NextText {
    const { reasoning, content } = this.#splitter.push(characters, ending !== null);
    const { text, stop } = this.#stopStrings.push(content);
    if (stop !== null) return { reasoning, text, ending: { finishReason: "stop", stopReason: stop } };
    if (ending === null) return { reasoning, text, ending };
    const whole = text + this.#stopStrings.flush();
    // Bytes of an incomplete character. An aborted text ends with its last complete one.
    const cut = ending.finishReason === "abort" ? "" : this.#detokenizer.flush();
    if (this.#splitter.state === "open") return { reasoning: reasoning + cut, text: whole, ending };
    return { reasoning, text: whole + cut, ending };
  }

  #output(token: SampledToken | null, { reasoning, text, ending }: NextText, error: ChorusErrorData | null = null) {
    return {
      requestId: this.#sequence.requestId,
      index: this.#sequence.index,
      text,
      reasoning,
      tokenIds: token === null ? [] : [token.tokenId],
      logprobs: token === null ? [] : [token.logprob],
      topLogprobs: token === null ? [] : [token.top ?? []],
      promptScores: token !== null && this.#sequence.numOutputTokens === 1 ? this.#sequence.promptScores : [],
      cachedTokens: this.#sequence.numCachedTokens,
      draftTokens: this.#sequence.numDraftTokens,
      acceptedTokens: this.#sequence.numAcceptedTokens,
      reasoningTokens: this.#reasoningTokens,
      finishReason: ending?.finishReason ?? null,
      stopReason: ending?.stopReason ?? null,
      error,
      score: this.#sequence.score,
    };
  }
}
