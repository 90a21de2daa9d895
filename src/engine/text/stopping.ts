import type { FinishReason } from "../../protocol/openai.ts";
import type { Sequence } from "../sequence.ts";

export interface Ending {
  readonly finishReason: FinishReason;
  /** The stop token id or stop string that ended it; null for end-of-text, length and abort. */
  readonly stopReason: number | string | null;
}

/**
 * Returns how a sequence ends with its newest token, or null. Length is checked last: an answer that completes with its
 * last allowed token has not been cut short. stop-string-matcher.ts finds stop strings, in the text.
 * @param maxLength most tokens, prompt and output together, that a sequence can have
 */
export function checkStop(sequence: Sequence, eosTokenIds: ReadonlySet<number>, maxLength: number): Ending | null {
  const { params, tokens, numOutputTokens } = sequence;
  const tokenId = tokens.at(-1);
  if (tokenId === undefined || numOutputTokens === 0) return null;

  // A grammar that allows end-of-text allows nothing else.
  const endsText = !params.ignoreEos || sequence.matcher !== null;
  if (eosTokenIds.has(tokenId) && endsText) return { finishReason: "stop", stopReason: null };
  if (params.stopTokenIds.includes(tokenId)) return { finishReason: "stop", stopReason: tokenId };
  if (numOutputTokens >= params.maxTokens || tokens.length >= maxLength) {
    return { finishReason: "length", stopReason: null };
  }
  return null;
}
