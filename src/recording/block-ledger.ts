import {
  KV_BLOCK_STATES,
  type KvCacheMap,
  type RequestReport,
  type SequenceId,
  type StepReport,
} from "../protocol/reports.ts";

/** Called when a block gets its first owner, and when it loses its last one. */
export interface BlockListener {
  readonly used: (block: number, by: SequenceId) => void;
  /** @param when before the step computed, or after */
  readonly freed: (block: number, when: "before" | "after") => void;
}

interface Holder {
  readonly id: SequenceId;
  readonly table: number[];
  numGivenBack: number;
  numComputed: number;
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

  /** Follows the blocks that a step took and gave back. */
  addStep({ preempted, entries }: StepReport): void {
    for (const id of preempted) this.#releaseAll(id, "before");
    for (const { requestId, index, slot, blocks, firstBlock, blocksGivenBack, ...entry } of entries) {
      if (blocks.length > 0 && firstBlock === 0) this.#admit(slot, { requestId, index });
      const holder = this.#holders.get(slot);
      if (holder === undefined) continue; // its beginning was not recorded
      for (const block of blocks) this.#take(block, holder);
      holder.numComputed = entry.start + entry.rows - entry.drafted + entry.accepted;
      for (; holder.numGivenBack < blocksGivenBack; holder.numGivenBack++) {
        this.#free(holder, holder.numGivenBack, "after");
      }
    }
    for (const { finishReason, ...id } of entries) if (finishReason !== null) this.#releaseAll(id, "after");
  }

  /** Frees the blocks of a request that has ended. */
  addRequest(report: RequestReport): void {
    if (report.status === "finished") this.#releaseAll(report, "after");
  }

  /** Returns the cache after the last step. */
  map(): KvCacheMap {
    const numBlocks = this.#refCounts.length;
    const owners = new Int32Array(numBlocks).fill(-1);
    const filledTokens = new Uint8Array(numBlocks);
    const states = new Uint8Array(numBlocks);
    for (const [block, count] of this.#refCounts.entries()) {
      if (count > 0) states[block] = KV_BLOCK_STATES.indexOf("used");
    }
    for (const block of this.#cached) {
      states[block] = KV_BLOCK_STATES.indexOf("cached");
      filledTokens[block] = this.#blockSize;
    }
    const holders = [...this.#holders.values()];
    for (const [owner, { table, numGivenBack, numComputed }] of holders.entries()) {
      for (const [index, block] of table.entries()) {
        if (index < numGivenBack || owners[block] !== -1) continue;
        owners[block] = owner;
        filledTokens[block] = Math.max(0, Math.min(this.#blockSize, numComputed - index * this.#blockSize));
      }
    }
    return {
      blockSize: this.#blockSize,
      states,
      refCounts: this.#refCounts.slice(),
      owners,
      filledTokens,
      sequences: holders.map(({ id }) => id),
    };
  }

  #admit(slot: number, id: SequenceId): void {
    this.#release(slot, "before");
    this.#holders.set(slot, { id, table: [], numGivenBack: 0, numComputed: 0 });
  }

  #take(block: number, { id, table }: Holder): void {
    table.push(block);
    const count = this.#refCounts[block];
    if (count === undefined) return;
    this.#refCounts[block] = count + 1;
    this.#cached.delete(block);
    if (count === 0) this.#listener?.used(block, id);
  }

  #free({ table, numComputed }: Holder, index: number, when: "before" | "after"): void {
    const block = table[index];
    const count = block === undefined ? undefined : this.#refCounts[block];
    if (block === undefined || count === undefined || count === 0) return;
    this.#refCounts[block] = count - 1;
    if (count > 1) return;
    if (this.#keepsPrefixes && (index + 1) * this.#blockSize <= numComputed) this.#cached.add(block);
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
    for (let index = holder.numGivenBack; index < holder.table.length; index++) this.#free(holder, index, when);
  }
}
