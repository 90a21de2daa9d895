import type { SamplingParams } from "./sampling-params.ts";

/**
 * Knows which tokens a grammar allows next. It belongs to one sequence and follows its output. grammar/grammars.ts
 * makes them.
 */
export interface GrammarMatcher {
  /** Tokens that may end the sequence. The mask allows them only when the text is complete. */
  readonly endTokenIds: readonly number[];
  /** The allowed next tokens: bit (id & 31) of word (id >>> 5). Valid from prepareMask() to accept(). */
  readonly mask: Uint32Array;
  /** Computes the mask for the next token. Returns false if no token is allowed, or if the matcher has failed. */
  prepareMask(): Promise<boolean>;
  /** Takes the token that was drawn. Returns false if the grammar forbids it here. */
  accept(tokenId: number): boolean;
  /** Frees it. Nothing else may be called afterwards. Idempotent. */
  dispose(): void;
}

/**
 * Returns a copy of the mask, without the end tokens while min_tokens is not reached or end-of-text is ignored. A text that
 * is complete can't go on: if only end tokens are left, they stay.
 */
export function allowedTokens(
  { mask, endTokenIds }: GrammarMatcher,
  { minTokens, ignoreEos }: Pick<SamplingParams, "minTokens" | "ignoreEos">,
  outputIndex: number,
): Uint32Array<ArrayBuffer> {
  const allowed = new Uint32Array(mask);
  if (outputIndex >= minTokens && !ignoreEos) return allowed;
  for (const id of endTokenIds) allowed[id >>> 5] = (allowed[id >>> 5] ?? 0) & ~(1 << (id & 31));
  return allowed.every((word) => word === 0) ? new Uint32Array(mask) : allowed;
}
