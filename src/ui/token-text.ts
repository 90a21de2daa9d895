import type { LikelyToken } from "../state/chat/answer-tokens.ts";

const SHARES = new Intl.NumberFormat("en-US", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** A token's probability, in per cent. */
export function formatShare({ logprob }: Pick<LikelyToken, "logprob">): string {
  const share = Math.exp(logprob);
  return share < 0.0005 ? "< 0.1%" : SHARES.format(share);
}

/** Makes spaces and line ends visible. A token without text is a control token, or a part of a character. */
export function visibleToken({ text }: Pick<LikelyToken, "text">): string {
  return text === "" ? "∅" : text.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
}
