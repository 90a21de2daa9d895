// The tokens of answers with their probabilities, if the settings ask for them.

import type { TokenLogprob } from "../../protocol/openai.ts";

/** The tokens of a chat's answers by turn id. They are not saved, and last as long as the page. */
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

  /** Null: the settings did not ask for them. */
  of(turnId: number): readonly TokenLogprob[] | null {
    return this.#ofTurns.get(turnId) ?? null;
  }
}

/** Most characters of Markdown syntax between two visible characters. */
const LONGEST_GAP = 400;

/**
 * Returns the index of the token that each visible character of an answer belongs to. The visible text is the tokens'
 * text without Markdown syntax and line ends. A character that can't be matched belongs to the token before.
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
