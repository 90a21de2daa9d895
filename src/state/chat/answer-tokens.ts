// The tokens of answers with their probabilities, where they were asked for.

import type { TokenLogprob } from "../../protocol/openai.ts";

/** Of each of a chat's answers, by its turn's id. They last as long as the page: nothing of them is saved. */
export class AnswerTokens {
  readonly #ofTurns = new Map<number, TokenLogprob[]>();

  add(turnId: number, tokens: readonly TokenLogprob[]): void {
    const known = this.#ofTurns.get(turnId);
    if (known) known.push(...tokens);
    else this.#ofTurns.set(turnId, [...tokens]);
  }

  forget(turnId: number): void {
    this.#ofTurns.delete(turnId);
  }

  /** Null: they were not asked for. */
  of(turnId: number): readonly TokenLogprob[] | null {
    return this.#ofTurns.get(turnId) ?? null;
  }
}

/** What Markdown's marks can be at most between two characters that are seen. */
const LONGEST_GAP = 400;

/**
 * To which token each character belongs of an answer as it is seen: without Markdown's marks and line ends, that is the
 * tokens' text with some characters left out. What is not found there belongs to the token before.
 */
export function tokenOfEachCharacter(tokens: readonly Pick<TokenLogprob, "token">[], seen: string): Int32Array {
  const text = tokens.map(({ token }) => token).join("");
  const owners = new Int32Array(text.length);
  let start = 0;
  for (const [index, { token }] of tokens.entries()) {
    owners.fill(index, start, start + token.length);
    start += token.length;
  }
  const result = new Int32Array(seen.length);
  let at = -1;
  for (let index = 0; index < seen.length; index++) {
    const next = text.indexOf(seen[index] ?? "", at + 1);
    if (next >= 0 && next - at <= LONGEST_GAP) at = next;
    result[index] = owners[Math.max(at, 0)] ?? 0;
  }
  return result;
}
