import type { SchedulerLimits } from "../../src/engine/scheduling/scheduler-config.ts";
import type { StepReport } from "../../src/protocol/reports.ts";
import { sampleEntry, sampleStep } from "../requests/sample-reports.ts";

interface SimulatedSequence {
  readonly id: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
  computed: number;
  output: number;
}

interface Planned {
  readonly sequence: SimulatedSequence;
  readonly rows: number;
  readonly sampled: boolean;
}

export interface SimulatedLoadOptions {
  /** Milliseconds of a step with this number of rows, before noise. */
  readonly costMs: (rows: number, step: number) => number;
  /** The n-th request there is; as many as are wanted come. */
  readonly request: (n: number, random: () => number) => { promptTokens: number; outputTokens: number };
  /** Relative standard deviation of a step's time. */
  readonly noise?: number;
  readonly kvBlocksTotal?: number;
  /** Number of requests that wait at any time. */
  readonly queueLength?: number;
}

const BLOCK_SIZE = 16;

/** An engine and its callers by arithmetic alone: running ones first, then the queue, under the limits it is given. */
export class SimulatedLoad {
  readonly #options: Required<SimulatedLoadOptions>;
  readonly #random = randomNumbers(12345);
  #running: SimulatedSequence[] = [];
  readonly #waiting: SimulatedSequence[] = [];
  #arrived = 0;
  #steps = 0;
  #atMs = 0;
  #preemptions = 0;
  /** Tokens of prompts and answers that were worth computing: not those computed again. */
  usefulRows = 0;

  constructor(options: SimulatedLoadOptions) {
    this.#options = { noise: 0.05, kvBlocksTotal: 1e6, queueLength: 8, ...options };
  }

  get seconds(): number {
    return this.#atMs / 1000;
  }

  step({ maxNumSeqs, maxNumBatchedTokens }: SchedulerLimits): StepReport {
    while (this.#waiting.length < this.#options.queueLength) this.#arrive();
    const planned: Planned[] = [];
    // Whoever runs keeps its row in every step, as in the scheduler.
    let budget = Math.max(maxNumBatchedTokens, this.#running.length);
    let unserved = this.#running.length;
    for (const sequence of this.#running) {
      unserved -= 1;
      budget -= give(sequence, budget - unserved, planned);
    }
    const preempted = this.#preempt();
    while (budget > 0 && this.#running.length < maxNumSeqs) {
      const next = this.#waiting[0];
      if (preempted || !next || !this.#hasRoomFor(next)) break;
      this.#waiting.shift();
      this.#running.push(next);
      budget -= give(next, budget, planned);
    }
    const scheduled = planned.filter(({ sequence }) => this.#running.includes(sequence));
    for (const { sequence, sampled } of scheduled) sequence.output += Number(sampled);
    this.usefulRows += planned.reduce((sum, { rows }) => sum + rows, 0);
    this.#running = this.#running.filter(({ output, outputTokens }) => output < outputTokens);
    return this.#report(scheduled);
  }

  #report(scheduled: readonly Planned[]): StepReport {
    const entries = scheduled.map(({ sequence, rows, sampled }) => sampleEntry(sequence.id, { rows, sampled }));
    const rows = entries.reduce((sum, entry) => sum + entry.rows, 0);
    const stepMs = this.#options.costMs(rows, this.#steps) * (1 + this.#options.noise * this.#gaussian());
    this.#atMs += stepMs;
    return sampleStep({
      step: ++this.#steps,
      atMs: this.#atMs,
      stepMs,
      entries,
      numRunning: this.#running.length,
      numWaiting: this.#waiting.length,
      kvBlocksUsed: this.#blocks(),
      kvBlocksTotal: this.#options.kvBlocksTotal,
      preemptionsTotal: this.#preemptions,
    });
  }

  /** The youngest give their blocks up until the others fit. What they had is computed again, and is of no use. */
  #preempt(): boolean {
    const before = this.#preemptions;
    while (this.#blocks() > this.#options.kvBlocksTotal && this.#running.length > 1) {
      const victim = this.#running.pop();
      if (!victim) break;
      this.usefulRows -= victim.computed;
      victim.computed = 0;
      this.#waiting.unshift(victim);
      this.#preemptions += 1;
    }
    return this.#preemptions > before;
  }

  #hasRoomFor({ promptTokens, output }: SimulatedSequence): boolean {
    return this.#blocks() + blocksOf(promptTokens + output) <= this.#options.kvBlocksTotal;
  }

  #arrive(): void {
    const n = this.#arrived++;
    this.#waiting.push({ id: `r${n}`, ...this.#options.request(n, this.#random), computed: 0, output: 0 });
  }

  #blocks(): number {
    return this.#running.reduce((sum, { computed }) => sum + blocksOf(computed), 0);
  }

  #gaussian(): number {
    return Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
  }
}

/** Plans what a sequence is behind by, or the most it may have. Returns its rows. */
function give(sequence: SimulatedSequence, mostRows: number, planned: Planned[]): number {
  const behind = sequence.promptTokens + sequence.output - sequence.computed;
  const rows = Math.min(behind, mostRows);
  sequence.computed += rows;
  planned.push({ sequence, rows, sampled: rows === behind });
  return rows;
}

function blocksOf(tokens: number): number {
  return Math.ceil(tokens / BLOCK_SIZE);
}

/** The same numbers in [0, 1) for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
