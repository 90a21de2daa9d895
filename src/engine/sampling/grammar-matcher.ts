import type { SamplingParams } from "./sampling-params.ts";

/**
 * What a grammar lets a sequence be, token by token. It belongs to one sequence, and knows its output so far; made outside
 * of the engine (host/structure-compiler.ts).
 */
export interface GrammarMatcher {
  /** What may end the sequence once its text is complete. Before, the mask leaves none of them. */
  readonly endTokenIds: readonly number[];
  /** Which tokens may come next: bit (id & 31) of word (id >>> 5). Valid from prepareMask() to accept(). */
  readonly mask: Uint32Array;
  /** Makes the mask for the next token. False: none may come, or the grammar can't be followed any further. */
  prepareMask(): Promise<boolean>;
  /** Takes the token that was drawn. False: it may not come here. */
  accept(tokenId: number): boolean;
  /** Nothing may be asked of it afterwards. Idempotent. */
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
