import { ChorusError } from "../../protocol/errors.ts";
import type { FinishReason } from "../../protocol/openai.ts";
import { BatchFormer } from "./batch-former.ts";
import { BlockPool } from "../cache/block-pool.ts";
import { Drafter } from "../drafting/drafter.ts";
import { NgramProposer } from "../drafting/ngram-proposer.ts";
import type { Proposer } from "../drafting/proposer.ts";
import { clampLimits, maxSpareSamples, type SchedulerConfig, type SchedulerLimits } from "./scheduler-config.ts";
import type { ScheduledSequence, Sequence } from "../sequence.ts";
import { SequenceStates } from "../cache/sequence-states.ts";
import { findSharedPrefix, type SharedPrefix } from "../cache/shared-prefix.ts";
import { RemainingSteps } from "./remaining-steps.ts";
import { SlotBudget } from "./slot-budget.ts";
import { StepBudget } from "./step-budget.ts";
import { WaitingQueue } from "./waiting-queue.ts";

/**
 * Decides what each step computes, by one rule:
 *
 *   A step gives rows to sequences, under a token budget, so that numComputedTokens catches up with numTokens.
 *
 * There is no prefill phase and no decode phase. A new prompt is many tokens behind, a sequence that generates is one
 * behind, a preempted sequence is behind by all its tokens. All get rows of the same batch. A sequence that has caught up
 * samples its next token, and so is one behind again, even if the token's id isn't known here yet.
 *
 * Running sequences are served first, then waiting ones, both in the policy's order. The budget reserves one row for each
 * running sequence that is still to be served, so every stream gets a row in every step, however long the prompts beside it
 * are. While any streams, prompts share a bound of their own, so that they don't make the step much longer for it. If the
 * pool runs dry, the last running sequence is preempted, which never has rows in the step yet. The first one makes progress
 * in every step, and waiting improves ranks, so no sequence starves.
 */
export class Scheduler {
  readonly pool: BlockPool;
  readonly drafter = new Drafter();
  /** Null for models that keep none. */
  readonly #states: SequenceStates | null;
  /** The first config: slots, rows and samples of a step are laid out for it. */
  readonly #loaded: SchedulerConfig;
  #config: SchedulerConfig;
  readonly #draftModel: Proposer | null;
  readonly #batches: BatchFormer;
  readonly #remainingSteps: RemainingSteps;
  readonly #waiting: WaitingQueue;
  readonly #running: Sequence[] = [];
  /** Sequences preempted since takePreempted() was last called. */
  #preempted: Sequence[] = [];
  readonly #freeSlots: number[];
  #limits: SchedulerLimits;
  /** Whether the runner can compute a sequence yet. */
  readonly #mayStart: (sequence: Sequence) => boolean;
  /** Returns the most prompt rows of a step, by its stream rows. */
  #promptRowsBeside: (streamRows: number) => number = () => Infinity;
  #step = 0;
  /** The last plan ended early: a sequence got no block, and preemption was not allowed. */
  #isBlocked = false;

  // Counters since start.
  numPreemptions = 0;
  prefixCacheQueries = 0;
  prefixCacheHits = 0;

  /**
   * @param draftModel drafts, if the config says that a model does
   * @param mayStart returns whether the runner can compute a sequence yet; if not, others overtake it
   */
  constructor(
    config: SchedulerConfig,
    draftModel: Proposer | null = null,
    mayStart: (sequence: Sequence) => boolean = () => true,
  ) {
    this.#mayStart = mayStart;
    this.#loaded = config;
    this.#config = config;
    this.#draftModel = draftModel;
    this.#limits = config;
    const { numGpuBlocks, blockSize, numStateSlots = 0 } = config;
    this.pool = new BlockPool(numGpuBlocks, blockSize, numStateSlots);
    this.#states = numStateSlots > 0 ? new SequenceStates(this.pool) : null;
    this.#useDrafts();
    this.#batches = new BatchFormer(config);
    this.#remainingSteps = new RemainingSteps(config);
    this.#waiting = new WaitingQueue(config.schedulingPolicy, this.#remainingSteps);
    this.#freeSlots = Array.from({ length: config.maxNumSeqs }, (_, slot) => slot).reverse();
  }

  get numRunning(): number {
    return this.#running.length;
  }

  get numWaiting(): number {
    return this.#waiting.length;
  }

  /** The number of slots, and of rows of a step. */
  get sizes(): Pick<SchedulerConfig, "maxNumSeqs" | "maxNumBatchedTokens"> {
    return this.#config;
  }

  /** Tokens of running sequences in the cache. A prefix that they share counts for each. */
  get numResidentTokens(): number {
    const { blockSize } = this.pool;
    return this.#running.reduce((sum, one) => sum + one.numComputedTokens - one.numFreedBlocks * blockSize, 0);
  }

  /** Sequences with slots and blocks, in the order of service. */
  get running(): readonly Sequence[] {
    return this.#running;
  }

  /** Most sequences that may run now, including the running ones. */
  get capacity(): number {
    return this.#batches.capacity(this.#running.length);
  }

  /** Earliest time at which scheduling again could produce work: the end of the batch window, or never. */
  get wakesAtMs(): number {
    if (this.#running.length > 0) return Infinity;
    const ready = [...this.#waiting].filter(this.#mayStart);
    return ready.length > 0 ? this.#batches.formsAtMs(ready) : Infinity;
  }

  setLimits(limits: SchedulerLimits): void {
    this.#limits = clampLimits(limits, this.#config);
  }

  /** Sets the function that returns the most prompt rows of a step, at least one, by its stream rows: see prompt-rows.ts. */
  setPromptRows(beside: (streamRows: number) => number): void {
    this.#promptRowsBeside = beside;
  }

  /**
   * Follows another config from the next plan on. Its slots, rows and spare samples must be no more than those of the first
   * one; the cache stays as it is. If more sequences run than it allows, the last ones wait again.
   */
  update(config: SchedulerConfig): void {
    this.#config = config;
    this.#limits = config;
    this.#useDrafts();
    this.#batches.update(config, this.#running);
    this.#remainingSteps.update(config);
    this.#waiting.usePolicy(config.schedulingPolicy, this.#running);
    this.#running.sort((a, b) => this.#waiting.compareRunning(a, b));
  }

  waitingIds(count: number): string[] {
    return this.#waiting.firstRequestIds(this.#step, count);
  }

  /** Queues a sequence. It must fit an empty pool: see admission.ts. */
  add(sequence: Sequence): void {
    this.#waiting.add(sequence, this.#step);
    this.#mayStart(sequence); // begins to compile what is missing
  }

  /** Lets the draft model draft for sequences that may; null if there is nothing to wait for. Call it before schedule(). */
  prepareDrafts(): Promise<void> | null {
    return this.drafter.prepare(this.#running);
  }

  /**
   * Plans the next step and counts its rows as computed, so that another can be planned while this one runs.
   * @param mayPreempt false while steps are in flight. A sequence that can't get a block then waits for them: one of them
   *   may end a sequence, and a sequence with a token in flight must not start over. All others wait as well, or else
   *   steps would stay in flight for as long as they have room.
   */
  schedule(nowMs: number, mayPreempt: boolean): ScheduledSequence[] {
    if (this.#isBlocked && !mayPreempt) return [];
    const { pool } = this;
    const step: ScheduledSequence[] = [];
    // The config may have changed.
    while (this.#batches.isOverfull(this.#running)) {
      if (!mayPreempt) return [];
      this.#preempt();
    }
    const preemptionsBefore = this.numPreemptions;
    this.#step += 1;
    this.#isBlocked = false;
    pool.states.beginStep();
    // Lowered limits must not starve running sequences.
    const target = Math.max(this.#limits.maxNumBatchedTokens, this.#running.length);
    const streams = this.#running.filter(({ numPendingTokens }) => numPendingTokens <= 1);
    const streamRows = streams.filter((one) => one.numPendingTokens === 1 && !this.drafter.waits(one)).length;
    const promptRows = (drafts: number) =>
      streams.length > 0 ? this.#promptRowsBeside(streamRows + drafts) : Infinity;
    const budget = new StepBudget(Math.min(target, this.#loaded.maxNumBatchedTokens), promptRows, this.#config);
    let unserved = this.#running.length;

    for (const sequence of this.#running) {
      if (budget.rows === 0) break;
      unserved -= 1;
      if (sequence.numPendingTokens === 0) continue; // it waits for tokens in flight
      if (this.drafter.waits(sequence)) continue;
      const count = budget.rowsFor(sequence, unserved);
      if (count === 0) continue;
      if (!this.#makeRoom(sequence, count, mayPreempt)) break;
      const mayDraft = this.#states?.mayDraftAfter(sequence.numComputedTokens + count) ?? true;
      this.drafter.draft(sequence, count, mayDraft ? budget.draftsFor(sequence, count, unserved) : 0, pool);
      const scheduled = this.#giveRows(sequence, count, 0, nowMs);
      step.push(scheduled);
      budget.take(scheduled);
    }

    if (!this.#isBlocked && this.numPreemptions === preemptionsBefore) this.#admit(budget, nowMs, step);
    // Groups may wait for members without room while they occupy it themselves; preempt the last group.
    if (mayPreempt) while (step.length === 0 && this.#preemptGroup()) this.#admit(budget, nowMs, step);
    return step;
  }

  /** Returns the sequences that were preempted since the last call. */
  takePreempted(): readonly Sequence[] {
    const preempted = this.#preempted;
    this.#preempted = [];
    return preempted;
  }

  /**
   * Takes back the rows of rejected drafts, once the draws are known. Returns whether the rows of those accepted count as
   * computed.
   */
  settleDrafts(sequence: Sequence, accepted: number): boolean {
    const areRight = accepted === sequence.drafts.length;
    this.drafter.settle(sequence, accepted, this.#states !== null);
    this.#states?.settle(sequence, areRight);
    return areRight || this.#states === null;
  }

  /**
   * Publishes full blocks, once the step has written their keys and values and all their tokens are known. Gives back those
   * that no later row sees.
   */
  commit(sequence: Sequence, numWritten: number): void {
    if (this.#config.enablePrefixCaching) this.#publish(sequence, numWritten);
    const { slidingWindow = null } = this.#config;
    if (slidingWindow === null) return;
    const numUnseen = Math.floor(Math.max(0, numWritten + 1 - slidingWindow) / this.pool.blockSize);
    this.pool.free(sequence.giveUpBlocks(numUnseen));
  }

  /** Ends a sequence in any state. Idempotent. */
  finish(sequence: Sequence, reason: FinishReason): void {
    if (sequence.isFinished) return;
    this.#remainingSteps.learn(sequence, reason);
    if (sequence.isRunning) this.#running.splice(this.#running.indexOf(sequence), 1);
    else this.#waiting.remove(sequence);
    this.#release(sequence);
    sequence.finish(reason);
  }

  /** Preempts every running sequence and forgets all cached blocks: the device that held them is lost. */
  loseCache(): void {
    while (this.#preempt() !== undefined);
    this.pool.forgetCached();
  }

  /** Throws unless every block and slot has exactly the owners it should have. */
  assertConsistent(): void {
    const waiting = [...this.#waiting];
    this.pool.assertConsistent([...this.#running, ...waiting].map((sequence) => sequence.ownBlocks));
    this.#states?.assertConsistent();
    const slots = new Set([...this.#freeSlots, ...this.#running.map((sequence) => sequence.slot)]);
    const leaked = waiting.some((sequence) => sequence.slot !== null || sequence.blockTable.length > 0);
    if (leaked || slots.has(null) || slots.size !== this.#loaded.maxNumSeqs) {
      throw new ChorusError("internal_error", "A waiting sequence holds a slot, or two sequences hold the same one.");
    }
  }

  #useDrafts(): void {
    const { speculation } = this.#config;
    if (speculation === null) return this.drafter.use(null, 0, 0);
    const proposer = speculation.method === "ngram" ? new NgramProposer(speculation.minMatch) : this.#draftModel;
    if (proposer === null) throw new ChorusError("internal_error", "The draft model is missing.", "speculation");
    this.drafter.use(proposer, speculation.numTokens, maxSpareSamples(this.#config));
  }

  #publish(sequence: Sequence, numWritten: number): void {
    // Without the prefix cache, blocks that it gave back were never published, and may hold something else now.
    if (sequence.numPublishedBlocks < sequence.numFreedBlocks) return;
    const numFull = Math.floor(numWritten / this.pool.blockSize);
    while (sequence.numPublishedBlocks < numFull) {
      const index = sequence.numPublishedBlocks;
      const block = sequence.blockTable[index];
      if (block === undefined)
        throw new ChorusError("internal_error", `Block ${index} was written, but the sequence doesn't have it.`);
      const { tokens, publishedChain, cacheSalt } = sequence;
      const { chain, found } = this.pool.prefixCache.publish(block, tokens, index, publishedChain, cacheSalt);
      sequence.publish(chain);
      this.#states?.publish(sequence, index, found);
    }
  }

  /** Admits waiting sequences in order, while budget, slots and blocks last. */
  #admit(budget: StepBudget, nowMs: number, step: ScheduledSequence[]): void {
    // Check before sorting the queue: with thousands waiting, that takes longer than the whole plan.
    if (!budget.hasRoomForPrompt || this.#waiting.length === 0) return;
    const slots = new SlotBudget(this.#running, this.#limits.maxNumSeqs);
    if (slots.isSpent) return;
    const waiting = this.#waiting.inOrder(this.#step, this.#running).filter(this.#mayStart);
    for (const sequence of this.#batches.candidates(waiting, slots, this.#running.length, nowMs)) {
      if (!budget.hasRoomForPrompt || !slots.hasRoomFor(sequence) || budget.rowsFor(sequence) === 0) return;
      const cached = findSharedPrefix(sequence, this.pool, this.#config.enablePrefixCaching, step);
      if (cached === "soon") continue;
      // Don't skip it: a large sequence would wait for ever while small ones pass by.
      if (!this.#start(sequence, cached)) return;
      slots.take(sequence);
      const scheduled = this.#giveRows(sequence, budget.rowsFor(sequence), sequence.numComputedTokens, nowMs);
      step.push(scheduled);
      budget.take(scheduled);
    }
  }

  #giveRows(sequence: Sequence, count: number, cachedTokens: number, nowMs: number): ScheduledSequence {
    const scheduled = sequence.giveRows(count, cachedTokens, nowMs);
    return this.#states === null ? scheduled : { ...scheduled, state: this.#states.plan(scheduled) };
  }

  /** Takes a sequence from the queue if all its tokens fit, not only its first chunk. */
  #start(sequence: Sequence, found: SharedPrefix): boolean {
    const { pool } = this;
    const slot = this.#freeSlots.at(-1);
    const prefix = this.#states === null ? found : this.#states.shareable(found);
    if (slot === undefined || prefix === null) return false;
    const { blocks: shared, chain } = prefix;
    const blocks = pool.allocate(pool.blocksFor(sequence.tokens.length), shared);
    if (blocks === null) {
      if (this.#running.length > 0) return false;
      throw new ChorusError(
        "internal_error",
        `A sequence of ${sequence.tokens.length} tokens can never fit the cache.`,
      );
    }
    this.#states?.admit(sequence, prefix);
    this.#waiting.remove(sequence);
    this.#freeSlots.pop();
    const after = this.#running.findIndex((other) => this.#waiting.compareRunning(sequence, other) < 0);
    this.#running.splice(after === -1 ? this.#running.length : after, 0, sequence);

    // The prefix cache may not have blocks that are shared with a leader; they are published again.
    const numPublishedBlocks = chain === null ? 0 : shared.length;
    const numCachedTokens = shared.length * pool.blockSize;
    sequence.admit({ slot, blocks, numCachedTokens, numPublishedBlocks, publishedChain: chain });
    if (sequence.isFirstAdmission) {
      this.prefixCacheQueries += sequence.tokens.length;
      this.prefixCacheHits += numCachedTokens;
    }
    return true;
  }

  /**
   * Gives a sequence blocks for its next rows, and preempts the last sequences while the pool is dry. Returns false if it
   * preempted this sequence, or if preemption isn't allowed now.
   */
  #makeRoom(sequence: Sequence, count: number, mayPreempt: boolean): boolean {
    const { pool } = this;
    const missing = pool.blocksFor(sequence.numComputedTokens + count) - sequence.blockTable.length;
    for (;;) {
      const blocks = missing > 0 ? pool.allocate(missing) : [];
      if (blocks !== null) {
        sequence.addBlocks(blocks);
        return true;
      }
      if (!mayPreempt) {
        this.#isBlocked = true;
        return false;
      }
      if (this.#preempt() === sequence) return false;
    }
  }

  /** Preempts a sequence, by default the last. It keeps its tokens and its place in the order of arrival. */
  #preempt(sequence = this.#running.at(-1)): Sequence | undefined {
    if (sequence === undefined) return undefined;
    this.#running.splice(this.#running.indexOf(sequence), 1);
    this.#release(sequence);
    sequence.preempt();
    this.numPreemptions += 1;
    this.#preempted.push(sequence);
    this.#waiting.add(sequence, this.#step);
    return sequence;
  }

  /** Preempts the whole group of the last sequence. Returns false if it has none. */
  #preemptGroup(): boolean {
    const group = this.#running.at(-1)?.group ?? null;
    if (group !== null) for (const sequence of group.members) if (sequence.slot !== null) this.#preempt(sequence);
    return group !== null;
  }

  /** Returns its blocks and slot to the pool. The sequence itself forgets them in preempt() or finish(). */
  #release(sequence: Sequence): void {
    this.pool.free(sequence.ownBlocks);
    this.#states?.release(sequence);
    if (sequence.slot !== null) this.#freeSlots.push(sequence.slot);
  }
}
