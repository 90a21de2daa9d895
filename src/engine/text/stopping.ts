import type { FinishReason } from "../../protocol/openai.ts";
import type { Sequence } from "../core/sequence.ts";

/** How a sequence ended. */
export interface Ending {
  readonly finishReason: FinishReason;
  /** The stop id or stop string that ended it; null for end-of-text, length and abort. */
  readonly stopReason: number | string | null;
}

/**
 * Whether a sequence ends with the token it has just been given. Length comes last: an answer that is complete with its
 * very last allowed token has not been cut short. (Stop strings are a matter of text: see stop-string-matcher.ts.)
 *
 * @param maxLength most tokens, prompt and output together, that a sequence can have
 */
export function checkStop(sequence: Sequence, eosTokenIds: ReadonlySet<number>, maxLength: number): Ending | null {
  const { params, tokens, numOutputTokens } = sequence;
  const tokenId = tokens.at(-1);
  if (tokenId === undefined || numOutputTokens === 0) return null;

  // Where a grammar lets end-of-text come, nothing else can.
  const endsText = !params.ignoreEos || sequence.matcher !== null;
  if (eosTokenIds.has(tokenId) && endsText) return { finishReason: "stop", stopReason: null };
  if (params.stopTokenIds.includes(tokenId)) return { finishReason: "stop", stopReason: tokenId };
  if (numOutputTokens >= params.maxTokens || tokens.length >= maxLength) {
    return { finishReason: "length", stopReason: null };
  }
  return null;
}
