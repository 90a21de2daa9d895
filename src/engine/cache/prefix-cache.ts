/**
 * Finds full cache blocks by their contents: the exact chain of all tokens up to their end. A block's name is its parent's
 * number and its own tokens, so equal names mean equal prefixes, and no hash can collide:
 *
 *   tokens   | t0 .. t15     | t16 .. t31    |
 *   names    "salt:t0,..,t15"  "#7:t16,..,t31"      where #7 is the number the first block got when it was published
 *
 * Numbers are never reused: once a block is reused, lookups no longer find its children.
 */
export class PrefixCache {
  readonly #blockSize: number;
  readonly #blockOf = new Map<string, number>();
  /** For each published block: its name, and the prefix of its children's names. */
  readonly #published = new Map<number, { readonly name: string; readonly chain: string }>();
  #nextNumber = 0;

  constructor(blockSize: number) {
    this.#blockSize = blockSize;
  }

  has(block: number): boolean {
    return this.#published.has(block);
  }

  /** Returns the prefix of the names of a block's children; null if it is not published. */
  chainOf(block: number): string | null {
    return this.#published.get(block)?.chain ?? null;
  }

  /** Returns the tokens that a published block holds; none of another. */
  tokensOf(block: number): number[] {
    const name = this.#published.get(block)?.name;
    return name === undefined
      ? []
      : name
          .slice(name.lastIndexOf(":") + 1)
          .split(",")
          .map(Number);
  }

  /** Returns the longest chain of blocks that hold the first tokens, at most `maxBlocks`. */
  lookup(
    tokens: readonly number[],
    salt: string | null,
    maxBlocks: number,
  ): { blocks: number[]; chain: string | null } {
    const blocks: number[] = [];
    let chain: string | null = null;
    while (blocks.length < maxBlocks) {
      const block = this.#blockOf.get(this.#nameOf(tokens, blocks.length, chain ?? rootOf(salt)));
      if (block === undefined) break;
      blocks.push(block);
      chain = this.#published.get(block)?.chain ?? null;
    }
    return { blocks, chain };
  }

  /**
   * Publishes block number `index` of a sequence, whose parent is `chain` (null for the first). Returns the prefix of its
   * children's names, and the block that lookups find: another one, if it has the same tokens already.
   */
  publish(
    block: number,
    tokens: readonly number[],
    index: number,
    chain: string | null,
    salt: string | null,
  ): { readonly chain: string; readonly found: number } {
    const name = this.#nameOf(tokens, index, chain ?? rootOf(salt));
    const found = this.#blockOf.get(name) ?? -1;
    const earlier = this.#published.get(found);
    if (earlier) return { chain: earlier.chain, found };
    // Another owner publishes a block a second time, and after another parent if the first one's was reused.
    const before = this.#published.get(block);
    if (before) this.#blockOf.delete(before.name);
    const own = before?.chain ?? `#${this.#nextNumber++}`;
    this.#blockOf.set(name, block);
    this.#published.set(block, { name, chain: own });
    return { chain: own, found: block };
  }

  /** Forgets a block that is about to hold something else. */
  forget(block: number): void {
    const published = this.#published.get(block);
    if (!published) return;
    this.#published.delete(block);
    this.#blockOf.delete(published.name);
  }

  #nameOf(tokens: readonly number[], index: number, parent: string): string {
    return `${parent}:${tokens.slice(index * this.#blockSize, (index + 1) * this.#blockSize).join(",")}`;
  }
}

/** JSON ends with a quote or an l, so it can't be mistaken for a number. */
function rootOf(salt: string | null): string {
  return JSON.stringify(salt);
}
