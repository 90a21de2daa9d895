import { LATER } from "./grammar-calls.ts";
import type { Machine, Position } from "./machine.ts";
import type { TokenTrie } from "./token-trie.ts";
import { TooMuchWork } from "./work.ts";

/** Follows a grammar over a vocabulary, as a GrammarMatcher does. */
export class MachineMatcher {
  readonly endTokenIds: readonly number[];
  readonly mask: Uint32Array;
  readonly #machine: Machine;
  readonly #trie: TokenTrie;
  /** null once the text has ended. */
  #position: Position | null;
  /** A mask that isn't made yet. */
  #making: Generator<void, boolean> | null = null;

  constructor(machine: Machine, trie: TokenTrie, endTokenIds: readonly number[]) {
    this.endTokenIds = endTokenIds;
    this.mask = new Uint32Array(Math.ceil(trie.vocabSize / 32));
    this.#machine = machine;
    this.#trie = trie;
    this.#position = machine.start();
  }

  /** Makes the mask of the next token. Returns whether any is allowed; LATER if there is more to do at that time. */
  makeMask(untilMs = Infinity): boolean | typeof LATER {
    const making = (this.#making ??= this.#steps());
    for (let next = making.next(); ; next = making.next()) {
      if (next.done) {
        this.#making = null;
        return next.value;
      }
      if (performance.now() >= untilMs) return LATER;
    }
  }

  *#steps(): Generator<void, boolean> {
    this.#machine.tidy();
    const position = this.#position;
    if (position === null) return false;
    try {
      yield* this.#trie.fill(this.mask, this.#machine, position);
    } catch (error) {
      if (error instanceof TooMuchWork) return false;
      throw error;
    }
    for (const id of this.#machine.program.tokens) this.#allow(id, this.#machine.nextByToken(position, id) !== null);
    for (const id of this.endTokenIds) this.#allow(id, position.isComplete);
    return this.mask.some((word) => word !== 0);
  }

  accept(tokenId: number): boolean {
    const position = this.#position;
    if (this.endTokenIds.includes(tokenId)) {
      this.#position = null;
      return position?.isComplete ?? false;
    }
    const after = position && this.#after(position, tokenId);
    if (after === null) return false;
    this.#position = after;
    return true;
  }

  #allow(id: number, isAllowed: boolean): void {
    const bit = 1 << (id & 31);
    const word = this.mask[id >>> 5] ?? 0;
    this.mask[id >>> 5] = isAllowed ? word | bit : word & ~bit;
  }

  #after(position: Position, tokenId: number): Position | null {
    const named = this.#machine.nextByToken(position, tokenId);
    if (named !== undefined) return named;
    const bytes = this.#trie.bytesOf(tokenId);
    let at: Position | null = bytes === "" ? null : position;
    for (let i = 0; i < bytes.length && at !== null; i++) at = this.#machine.next(at, bytes.charCodeAt(i));
    return at;
  }
}
