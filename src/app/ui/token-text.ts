import { groupedNumber } from "./format.ts";
import type { LikelyToken } from "../state/chat/answer-tokens.ts";

/** A token's probability, in per cent. */
export function formatShare({ logprob }: Pick<LikelyToken, "logprob">): string {
  const share = Math.exp(logprob);
  return share < 0.0005 ? "< 0.1%" : `${groupedNumber(100 * share, 1)}%`;
}

/** Makes spaces and line ends visible. A token without text is a control token, or a part of a character. */
export function visibleToken({ text }: Pick<LikelyToken, "text">): string {
  return text === "" ? "∅" : text.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
}
