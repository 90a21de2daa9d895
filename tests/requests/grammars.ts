// Grammars without a GPU, and answers drawn at random from what a grammar allows.

import type { GrammarMatcher } from "../../src/engine/sampling/grammar-matcher.ts";
import type { GrammarPort } from "../../src/grammar/grammar-calls.ts";
import { GrammarService } from "../../src/grammar/grammar-service.ts";
import { Grammars } from "../../src/grammar/grammars.ts";
import { TokenTrie } from "../../src/grammar/token-trie.ts";
import { answerCalls } from "../../src/threads/serve-thread.ts";

/** Compiles for a vocabulary, given as the bytes of each token. */
export function grammarCompiler(vocabulary: readonly Uint8Array[], vocabSize = vocabulary.length): Grammars {
  const tokens = vocabulary.map((bytes) => String.fromCharCode(...bytes));
  return new Grammars(() => ({ vocabSize, tokens }), null);
}

let shared: TokenTrie | null = null;

/** A thread of grammars that is none: it computes here, with one tree for the first vocabulary that comes. */
export function grammarPortInPlace(): GrammarPort {
  const service = new GrammarService(({ tokens, vocabSize }) => (shared ??= new TokenTrie(tokens, vocabSize)));
  let onAnswer: Parameters<GrammarPort["listen"]>[0] = () => undefined;
  return {
    post: answerCalls(service.answer.bind(service), (answer) => onAnswer(answer as Parameters<typeof onAnswer>[0])),
    listen: (listener) => (onAnswer = listener),
    end: () => (onAnswer = () => undefined),
  };
}

/** Ids that a mask has. */
export function allowedIds(mask: Uint32Array): number[] {
  const ids: number[] = [];
  mask.forEach((word, i) => {
    for (let bits = word; bits !== 0; bits &= bits - 1) ids.push(32 * i + 31 - Math.clz32(bits & -bits));
  });
  return ids;
}

/**
 * Draws tokens that the matcher allows until one of its ends comes; null if that takes more than `maxTokens`.
 * @param random 0 to 1, exclusive
 * @param favoured tokens that come more often, where they may
 */
export async function drawAnswer(
  matcher: GrammarMatcher,
  maxTokens: number,
  random: () => number,
  favoured: readonly number[] = [],
): Promise<number[] | null> {
  const tokens: number[] = [];
  while (tokens.length < maxTokens) {
    if (!(await matcher.prepareMask())) throw new Error("Nothing is left to draw.");
    const all = allowedIds(matcher.mask);
    const closing = all.filter((id) => favoured.includes(id));
    const ids = closing.length > 0 && random() < 0.3 ? closing : all;
    const id = ids[Math.floor(random() * ids.length)] ?? 0;
    if (!matcher.accept(id)) throw new Error(`Token ${id} was allowed, and not accepted.`);
    if (matcher.endTokenIds.includes(id)) return tokens;
    tokens.push(id);
  }
  return null;
}
