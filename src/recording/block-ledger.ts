import { cacheMap } from "../protocol/cache-map.ts";
import type { KvCacheMap, RequestReport, SequenceId, StepReport } from "../protocol/reports.ts";

/** Called when a block gets its first owner, and when it loses its last one. */
export interface BlockListener {
  readonly used: (block: number, by: SequenceId) => void;
  /** @param when before the step computed, or after */
  readonly freed: (block: number, when: "before" | "after") => void;
}

interface Holder {
  readonly id: SequenceId;
  readonly blockTable: number[];
  numFreedBlocks: number;
  numComputedTokens: number;
}

/** Larger recordings have no map: no browser could draw it. */
const MAX_BLOCKS = 2 ** 20;

/**
 * Follows the cache's blocks through a run's reports, and so reproduces the engine's own map after each step. It assumes that
 * the prefix cache keeps all full blocks of ended sequences; the engine keeps one of several with the same tokens. Beams that
 * a search has dropped keep their blocks here until their slots are reused or the search ends: no report names them.
 */
export class BlockLedger {
  readonly #blockSize: number;
  readonly #keepsPrefixes: boolean;
  readonly #listener: BlockListener | null;
  readonly #refCounts: Uint16Array;
  readonly #cached = new Set<number>();
  /** Holders by slot, in the order of admission. */
  readonly #holders = new Map<number, Holder>();

  constructor(
    { numGpuBlocks, blockSize }: { readonly numGpuBlocks: number; readonly blockSize: number },
    keepsPrefixes: boolean,
    listener: BlockListener | null = null,
  ) {
    this.#blockSize = blockSize;
    this.#keepsPrefixes = keepsPrefixes;
    this.#listener = listener;
    this.#refCounts = new Uint16Array(Math.max(0, Math.min(MAX_BLOCKS, numGpuBlocks)));
  }

  addStep({ preempted, entries }: StepReport): void {
    for (const id of preempted) this.#releaseAll(id, "before");
    for (const { requestId, index, slot, blocks, firstBlock, blocksGivenBack, ...entry } of entries) {
      if (blocks.length > 0 && firstBlock === 0) this.#admit(slot, { requestId, index });
      const holder = this.#holders.get(slot);
      if (holder === undefined) continue; // its beginning was not recorded
      for (const block of blocks) this.#take(block, holder);
      holder.numComputedTokens = entry.start + entry.rows - entry.drafted + entry.accepted;
      for (; holder.numFreedBlocks < blocksGivenBack; holder.numFreedBlocks++) {
        this.#free(holder, holder.numFreedBlocks, "after");
      }
    }
    for (const { finishReason, ...id } of entries) if (finishReason !== null) this.#releaseAll(id, "after");
  }

  addRequest(report: RequestReport): void {
    if (report.status === "finished") this.#releaseAll(report, "after");
  }

  /** Returns the cache after the last step. */
  map(): KvCacheMap {
    const holders = [...this.#holders.values()].map(({ id, ...blocks }) => ({ ...id, ...blocks }));
    const isCached = (block: number) => this.#cached.has(block);
    return cacheMap({ blockSize: this.#blockSize, refCounts: this.#refCounts.slice(), isCached }, holders);
  }

  #admit(slot: number, id: SequenceId): void {
    this.#release(slot, "before");
    this.#holders.set(slot, { id, blockTable: [], numFreedBlocks: 0, numComputedTokens: 0 });
  }

  #take(block: number, { id, blockTable }: Holder): void {
    blockTable.push(block);
    const count = this.#refCounts[block];
    if (count === undefined) return;
    this.#refCounts[block] = count + 1;
    this.#cached.delete(block);
    if (count === 0) this.#listener?.used(block, id);
  }

  #free({ blockTable, numComputedTokens }: Holder, index: number, when: "before" | "after"): void {
    const block = blockTable[index];
    const count = block === undefined ? undefined : this.#refCounts[block];
    if (block === undefined || count === undefined || count === 0) return;
    this.#refCounts[block] = count - 1;
    if (count > 1) return;
    if (this.#keepsPrefixes && (index + 1) * this.#blockSize <= numComputedTokens) this.#cached.add(block);
    this.#listener?.freed(block, when);
  }

  #releaseAll({ requestId, index }: SequenceId, when: "before" | "after"): void {
    for (const [slot, { id }] of this.#holders) {
      if (id.requestId === requestId && id.index === index) this.#release(slot, when);
    }
  }

  #release(slot: number, when: "before" | "after"): void {
    const holder = this.#holders.get(slot);
    if (holder === undefined) return;
    this.#holders.delete(slot);
    for (let index = holder.numFreedBlocks; index < holder.blockTable.length; index++) this.#free(holder, index, when);
  }
}
