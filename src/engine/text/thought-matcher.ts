import { Detokenizer, type TokenBytes } from "./detokenizer.ts";
import { CLOSING, ReasoningSplitter, type ReasoningStart } from "./reasoning-splitter.ts";
import type { GrammarMatcher } from "../sampling/grammar-matcher.ts";

/** Tokens with text after a character that closing tags end with: [id, text with one character per byte]. */
type LongTokens = readonly (readonly [id: number, text: string])[];

export interface ThoughtTokens {
  readonly vocabSize: number;
  readonly tokenBytes: TokenBytes;
  readonly long: LongTokens;
}

/** @param vocabSize of the model's embedding */
export function thoughtTokens(vocabSize: number, tokenBytes: TokenBytes): ThoughtTokens {
  const end = CLOSING.charCodeAt(CLOSING.length - 1);
  const long: [number, string][] = [];
  for (let id = 0; id < vocabSize; id++) {
    const bytes = tokenBytes(id);
    const at = bytes.indexOf(end);
    if (at >= 0 && at < bytes.length - 1) long.push([id, String.fromCharCode(...bytes)]);
  }
  return { vocabSize, tokenBytes, long };
}

/**
 * Lets a grammar begin after the thought that a prompt has opened. The thought is free, but the answer can't end in it. No
 * token may go beyond the thought's end, so the grammar begins with a token.
 */
export class ThoughtMatcher implements GrammarMatcher {
  readonly #grammar: GrammarMatcher;
  readonly #tokens: ThoughtTokens;
  readonly #detokenizer: Detokenizer;
  readonly #splitter: ReasoningSplitter;
  readonly #free: Uint32Array;

  constructor(grammar: GrammarMatcher, tokens: ThoughtTokens, reasoning: ReasoningStart) {
    this.#grammar = grammar;
    this.#tokens = tokens;
    this.#detokenizer = new Detokenizer(tokens.tokenBytes);
    this.#splitter = new ReasoningSplitter(reasoning, true);
    this.#free = new Uint32Array(grammar.mask.length);
    this.#fillMask();
  }

  get endTokenIds(): readonly number[] {
    return this.#grammar.endTokenIds;
  }

  get mask(): Uint32Array {
    return this.#isInThought ? this.#free : this.#grammar.mask;
  }

  async prepareMask(): Promise<boolean> {
    if (!this.#isInThought) return this.#grammar.prepareMask();
    this.#fillMask();
    return true;
  }

  accept(tokenId: number): boolean {
    if (!this.#isInThought) return this.#grammar.accept(tokenId);
    if (!this.#allows(tokenId)) return false;
    this.#splitter.push(this.#detokenizer.push(tokenId), false);
    return true;
  }

  dispose(): void {
    this.#grammar.dispose();
  }

  get #isInThought(): boolean {
    return this.#splitter.state === "open";
  }

  #allows(tokenId: number): boolean {
    return (((this.#free[tokenId >>> 5] ?? 0) >>> (tokenId & 31)) & 1) === 1;
  }

  #fillMask(): void {
    const { vocabSize, long } = this.#tokens;
    this.#free.fill(-1);
    // Bits beyond the vocabulary belong to no token.
    const spare = this.#free.length * 32 - vocabSize;
    this.#free[this.#free.length - 1] = (-1 << spare) >>> spare;
    const started = CLOSING.slice(0, this.#splitter.numTagCharacters);
    const goesBeyond = long.filter(([, text]) => {
      const end = `${started}${text}`.indexOf(CLOSING) + CLOSING.length;
      return end >= CLOSING.length && end < started.length + text.length;
    });
    for (const id of [...this.endTokenIds, ...goesBeyond.map(([token]) => token)]) {
      this.#free[id >>> 5] = (this.#free[id >>> 5] ?? 0) & ~(1 << (id & 31));
    }
  }
}
