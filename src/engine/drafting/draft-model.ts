import { BlockPool } from "../cache/block-pool.ts";
import { Sequence } from "../sequence.ts";
import { drawNeeds, StepPlanner } from "../step-planner.ts";
import type { Runner, StepResult } from "../runner.ts";
import type { Proposer, DraftRequest } from "./proposer.ts";

/** A model that drafts, and its room. Its slots are those of the model that it drafts for. */
interface DraftModelOptions {
  readonly numGpuBlocks: number;
  readonly blockSize: number;
  readonly maxNumBatchedTokens: number;
  /** Most tokens that a sequence may have. */
  readonly maxLength: number;
}

/** A sequence's state in the draft model. */
interface Progress {
  readonly blocks: number[];
  /** Number of blocks that its prefix cache has, and its name for the last one. */
  numPublishedBlocks: number;
  publishedChain: string | null;
  /** Number of first positions whose keys and values are in the cache; the last ones may belong to drafts. */
  numComputedTokens: number;
  /** Tokens that the sequence had when `drafts` were drawn; 0 if there are none. */
  numKnown: number;
  drafts: readonly number[];
}

/** A sequence's part in a round of drafting. */
interface Part {
  readonly progress: Progress;
  readonly sequence: Sequence;
  /** The sequence as the draft model sees it: it goes on with the drafts. */
  readonly shadow: Sequence;
  /** Rows of its first step: tokens that the draft model has not computed yet. */
  readonly count: number;
  /** Tokens to draft; 0 while the draft model has yet to compute tokens before them. */
  readonly numDrafts: number;
}

/**
 * A small model with the same tokens drafts for a large one. It has a cache of its own, with its own prefix cache, and the
 * same rule: a step gives rows to sequences, so that what is computed catches up with the tokens. A sequence that has
 * caught up drafts token after token, all sequences in the same steps. The runner feeds each draft back itself, so the
 * host waits once, for all of them.
 *
 * Drafts are drawn with the request's own parameters and random numbers. Where the two models agree about what is likely,
 * they draw the same token, at any temperature.
 */
export class DraftModel implements Proposer {
  readonly #options: DraftModelOptions;
  readonly #progress = new Map<Sequence, Progress>();
  /** Sequences that found no room. */
  readonly #refused = new WeakSet<Sequence>();
  /** Null from the loss of its device until it is replaced. */
  #runner: Runner | null;
  #pool: BlockPool;
  #planner = new StepPlanner();
  /** Resolves the pending promise with null. */
  #drop = (): void => {};

  constructor(runner: Runner, options: DraftModelOptions) {
    this.#runner = runner;
    this.#options = options;
    this.#pool = new BlockPool(options.numGpuBlocks, options.blockSize);
  }

  propose(sequence: Sequence, atMost: number): readonly number[] | null {
    const { tokens } = sequence;
    const progress = this.#progress.get(sequence);
    if (progress === undefined) return this.#refused.has(sequence) ? [] : null;
    return progress.numKnown === tokens.length ? progress.drafts.slice(0, atMost) : null;
  }

  async prepare(requests: readonly DraftRequest[]): Promise<void> {
    for (const sequence of this.#progress.keys()) if (sequence.slot === null) this.#forget(sequence);
    const parts = this.#partsOf(requests);
    if (parts.length === 0 || this.#runner === null) return;
    const drafts = await this.#draft(this.#runner, parts);
    for (const part of parts) this.#keep(part, drafts?.get(part) ?? []);
  }

  /** Forgets the runner and its cache: the device is lost. */
  lose(): void {
    this.#runner = null;
    this.#pool = new BlockPool(this.#options.numGpuBlocks, this.#options.blockSize);
    this.#planner = new StepPlanner();
    this.#progress.clear();
    this.#drop();
  }

  replaceRunner(runner: Runner): void {
    this.#runner = runner;
  }

  /** Throws unless every block has exactly the owners it should have. */
  assertConsistent(): void {
    this.#pool.assertConsistent([...this.#progress.values()].map(({ blocks }) => blocks));
  }

  /** Gives sequences rows of the step, and keeps one row for each sequence after them. */
  #partsOf(requests: readonly DraftRequest[]): Part[] {
    let rows = this.#options.maxNumBatchedTokens;
    let unserved = requests.length;
    return requests.flatMap(({ sequence, atMost }): Part[] => {
      unserved -= 1;
      if (this.#awaitsKernel(sequence)) return [];
      const { tokens } = sequence;
      const progress = this.#progressOf(sequence, atMost);
      if (progress === null || progress.numKnown === tokens.length) return [];
      const missing = tokens.length - progress.numComputedTokens;
      const count = Math.min(missing, rows - unserved);
      if (count <= 0) return [];
      rows -= count;
      const shadow = shadowOf(sequence, progress);
      return [{ progress, sequence, shadow, count, numDrafts: count === missing ? atMost : 0 }];
    });
  }

  /** Until the runner can draw for a sequence, it goes on without drafts. */
  #awaitsKernel(sequence: Sequence): boolean {
    const missing = this.#runner?.missing?.({ ...drawNeeds(sequence), numTop: 0 }) ?? null;
    missing?.catch(() => undefined); // a refused kernel never comes
    return missing !== null;
  }

  /** Submits all steps at once. Returns their results per sequence; null if the device was lost. */
  async #draft(runner: Runner, parts: readonly Part[]): Promise<ReadonlyMap<Part, number[]> | null> {
    const drafts = new Map<Part, number[]>(parts.map((part) => [part, []]));
    const steps: Promise<void>[] = [];
    for (let round = 0; ; round++) {
      const taking = parts.filter(({ numDrafts }) => round === 0 || round < numDrafts);
      if (taking.length === 0) break;
      const rows = taking.map(({ shadow, count }) => shadow.giveRows(round === 0 ? count : 1, 0, 0));
      steps.push(runner.submit(this.#planner.plan(rows)).then((result) => collect(result, taking, drafts)));
    }
    const dropped = new Promise<null>((resolve) => (this.#drop = () => resolve(null)));
    return Promise.race([Promise.all(steps).then(() => drafts), dropped]);
  }

  #keep({ progress, sequence, count, numDrafts }: Part, drafts: readonly number[]): void {
    if (this.#progress.get(sequence) !== progress) return;
    const { tokens, cacheSalt } = sequence;
    progress.numComputedTokens += count + Math.max(0, numDrafts - 1);
    const numKnown = Math.min(progress.numComputedTokens, tokens.length);
    const { blockSize } = this.#options;
    for (let index = progress.numPublishedBlocks; (index + 1) * blockSize <= numKnown; index++) {
      const block = progress.blocks[index] ?? 0;
      progress.publishedChain = this.#pool.prefixCache.publish(
        block,
        tokens,
        index,
        progress.publishedChain,
        cacheSalt,
      ).chain;
      progress.numPublishedBlocks = index + 1;
    }
    if (numDrafts === 0) return;
    progress.numKnown = tokens.length;
    progress.drafts = drafts;
  }

  /** Returns a sequence's progress, with blocks for its tokens and drafts; null if there is no room. */
  #progressOf(sequence: Sequence, numDrafts: number): Progress | null {
    const { tokens, cacheSalt } = sequence;
    const pool = this.#pool;
    const length = tokens.length + numDrafts - 1;
    if (length > this.#options.maxLength) return this.#refuse(sequence);
    const known = this.#progress.get(sequence);
    if (known === undefined) {
      const maxBlocks = Math.floor((tokens.length - 1) / pool.blockSize);
      const { blocks: shared, chain } = pool.prefixCache.lookup(tokens, cacheSalt, maxBlocks);
      const blocks = pool.allocate(pool.blocksFor(length), shared);
      if (blocks === null) return this.#refuse(sequence);
      const numComputedTokens = shared.length * pool.blockSize;
      const published = { numPublishedBlocks: shared.length, publishedChain: chain };
      const progress: Progress = { blocks, ...published, numComputedTokens, numKnown: 0, drafts: [] };
      this.#progress.set(sequence, progress);
      return progress;
    }
    takeBackWrongDrafts(known, tokens);
    const missing = pool.allocate(Math.max(0, pool.blocksFor(length) - known.blocks.length));
    if (missing === null) return this.#refuse(sequence);
    known.blocks.push(...missing);
    return known;
  }

  #refuse(sequence: Sequence): null {
    this.#refused.add(sequence);
    this.#forget(sequence);
    return null;
  }

  #forget(sequence: Sequence): void {
    const progress = this.#progress.get(sequence);
    if (progress !== undefined) this.#pool.free(progress.blocks);
    this.#progress.delete(sequence);
  }
}

/** Counts as computed only the tokens that were drawn as drafted. */
function takeBackWrongDrafts(progress: Progress, tokens: readonly number[]): void {
  const { numKnown, drafts } = progress;
  if (numKnown === 0 || numKnown === tokens.length) return;
  let right = 0;
  while (right < drafts.length && tokens[numKnown + right] === drafts[right]) right += 1;
  // The newest token's row is computed again if necessary: the next draft is drawn from it.
  progress.numComputedTokens = Math.min(progress.numComputedTokens, numKnown + right, tokens.length - 1);
  progress.numKnown = 0;
  progress.drafts = [];
}

/** Returns the sequence as the draft model sees it, without log-probabilities: nobody reads a draft's. */
function shadowOf({ requestId, index, params, tokens, promptLength, slot }: Sequence, progress: Progress): Sequence {
  const shadow = new Sequence({
    requestId,
    index,
    params: { ...params, topLogprobs: 0, promptLogprobs: null },
    prompt: tokens.slice(0, promptLength),
    output: tokens.slice(promptLength),
    arrivalMs: 0,
  });
  if (slot === null) throw new Error(`sequence ${requestId}#${index} drafts without a slot`);
  const { blocks, numComputedTokens, numPublishedBlocks, publishedChain } = progress;
  shadow.admit({ slot, blocks, numCachedTokens: numComputedTokens, numPublishedBlocks, publishedChain });
  return shadow;
}

function collect({ sequences }: StepResult, parts: readonly Part[], drafts: ReadonlyMap<Part, number[]>): void {
  parts.forEach((part, i) => {
    const token = sequences[i]?.drawn[0];
    if (token !== undefined) drafts.get(part)?.push(token.tokenId);
  });
}
