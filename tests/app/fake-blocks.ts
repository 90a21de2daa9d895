import { KV_BLOCK_STATES, type KvBlockTokens, type KvCacheMap } from "../../src/protocol/reports.ts";

/** Cache blocks that hold nothing: who would have which. */
export class FakeBlocks {
  readonly #blockSize: number;
  readonly #owners: (string | null)[];
  readonly #cached = new Set<number>();
  readonly #tokens = new Map<string, number>();

  constructor(numBlocks: number, blockSize: number) {
    this.#blockSize = blockSize;
    this.#owners = Array.from({ length: numBlocks }, () => null);
  }

  get numUsed(): number {
    return this.#owners.filter((owner) => owner !== null).length;
  }

  get numCached(): number {
    return this.#cached.size;
  }

  /** Sets the number of the request's tokens. Returns the blocks that it was given for them, and how many it had. */
  grow(requestId: string, tokens: number): { readonly blocks: readonly number[]; readonly firstBlock: number } {
    this.#tokens.set(requestId, tokens);
    const firstBlock = this.#owners.filter((owner) => owner === requestId).length;
    const blocks: number[] = [];
    for (let missing = Math.ceil(tokens / this.#blockSize) - firstBlock; missing > 0; missing--) {
      const block = this.#owners.findIndex((owner, index) => owner === null && !this.#cached.has(index));
      const reused = block >= 0 ? block : this.#cached.values().next().value;
      if (reused === undefined) break;
      this.#cached.delete(reused);
      this.#owners[reused] = requestId;
      blocks.push(reused);
    }
    return { blocks, firstBlock };
  }

  /** Full blocks can be found again. */
  release(requestId: string): void {
    let full = Math.floor((this.#tokens.get(requestId) ?? 0) / this.#blockSize);
    for (const [block, owner] of this.#owners.entries()) {
      if (owner !== requestId) continue;
      this.#owners[block] = null;
      if (full-- > 0) this.#cached.add(block);
    }
    this.#tokens.delete(requestId);
  }

  /** A block's tokens are the numbers of their positions; those of a block that is only cached are not remembered. */
  tokensOf(block: number): KvBlockTokens {
    const owner = this.#owners[block] ?? null;
    if (owner === null) return { tokenIds: [], sequence: null, start: null };
    const place = this.#owners.slice(0, block).filter((other) => other === owner).length;
    const start = place * this.#blockSize;
    const numTokens = Math.max(0, Math.min(this.#blockSize, (this.#tokens.get(owner) ?? 0) - start));
    const tokenIds = Array.from({ length: numTokens }, (_, index) => start + index);
    return { tokenIds, sequence: { requestId: owner, index: 0 }, start };
  }

  map(): KvCacheMap {
    const requestIds = [...this.#tokens.keys()];
    const left = new Map(this.#tokens);
    const filledTokens = this.#owners.map((owner, block) => {
      if (owner === null) return this.#cached.has(block) ? this.#blockSize : 0;
      const filled = Math.min(this.#blockSize, left.get(owner) ?? 0);
      left.set(owner, (left.get(owner) ?? 0) - filled);
      return filled;
    });
    const states = this.#owners.map((owner, block) =>
      KV_BLOCK_STATES.indexOf(owner !== null ? "used" : this.#cached.has(block) ? "cached" : "free"),
    );
    return {
      blockSize: this.#blockSize,
      states: Uint8Array.from(states),
      refCounts: Uint16Array.from(this.#owners, (owner) => (owner === null ? 0 : 1)),
      owners: Int32Array.from(this.#owners, (owner) => (owner === null ? -1 : requestIds.indexOf(owner))),
      filledTokens: Uint8Array.from(filledTokens),
      sequences: requestIds.map((requestId) => ({ requestId, index: 0 })),
    };
  }
}
