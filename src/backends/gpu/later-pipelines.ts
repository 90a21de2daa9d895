import type { KernelCompiler, KernelVariant } from "./kernel.ts";
import type { Answers } from "./read-after.ts";

/** The order in which pipelines are compiled that no step needs yet. */
export const Rank = {
  /** Filters and rules: a request that has them waits. */
  draws: 0,
  /** Products and attention, of one row, of many, and of some: a slower kernel can stand in. */
  answers: 1,
  prompts: 2,
  batches: 3,
  logprobs: 4,
} as const;
export type Rank = (typeof Rank)[keyof typeof Rank];
const hasStandIn = (rank: Rank) => rank !== Rank.draws && rank !== Rank.logprobs;

const CHANGES = "its answers are others than before";
const DIFFERS = "its answers differ from the known ones";
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Of a check that could ask nothing. */
export const NO_ANSWERS: Answers = { known: 0, given: NaN };

export interface LaterPipeline {
  /** Rejects with kernel_refused; null if the check failed. */
  readonly ready: Promise<GPUComputePipeline | null>;
  /** Compiles it at once: a step waits for it. */
  readonly hurry: () => void;
  /** Calls back if recheck() finds other answers than before. */
  readonly onChange: (take: (changed: Changed) => void) => void;
}

/** Which answers have changed: those that were known, the kernel's own, or both. */
type Changed = Readonly<Record<keyof Answers, boolean>>;

interface Checked {
  readonly label: string;
  readonly known: number;
  readonly ask: () => Promise<Answers>;
  readonly takes: readonly ((changed: Changed) => void)[];
}

interface Job {
  readonly rank: Rank;
  /** Idempotent. */
  readonly run: () => Promise<void>;
}

/**
 * Compiles pipelines that the first step can do without, one at a time: a software adapter computes steps on the same cores.
 * Begins when start() is called; a pipeline that a step waits for begins at once.
 */
export class LaterPipelines {
  readonly #compiler: KernelCompiler;
  readonly #byLabel = new Map<string, LaterPipeline>();
  readonly #jobs: Job[] = [];
  readonly #checked: Checked[] = [];
  #isStopped = false;

  constructor(compiler: KernelCompiler) {
    this.#compiler = compiler;
  }

  /** Whether the buffers are gone. A check that has waited asks before it uses one. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** @param check a pipeline may be used if what it gives is what is known */
  add(variant: KernelVariant, rank: Rank, check?: (pipeline: GPUComputePipeline) => Promise<Answers>): LaterPipeline {
    const { label, compile } = this.#compiler.prepare(variant);
    const earlier = this.#byLabel.get(label);
    if (earlier) return earlier;
    const takes: ((changed: Changed) => void)[] = [];
    let begin = (): void => {};
    const work = async () => {
      const pipeline = await (hasStandIn(rank) ? compile() : this.#compiler.prove(label, compile));
      // A check uses buffers, which are destroyed at the end.
      if (this.#isStopped) return null;
      if (check === undefined) return pipeline;
      const { known, given } = await check(pipeline);
      if (given !== known) return null;
      this.#checked.push({ label, known, ask: () => check(pipeline), takes });
      return pipeline;
    };
    const ready = new Promise<void>((resolve) => (begin = resolve)).then(() =>
      hasStandIn(rank) ? this.#compiler.tryOut(variant, work) : work(),
    );
    const note = () => this.#compiler.noteReady(label);
    const settled = ready.then(note, note); // the caller of `ready` handles errors
    const run = () => {
      if (!this.#isStopped) begin();
      return settled;
    };
    this.#jobs.push({ rank, run });
    const added: LaterPipeline = { ready, hurry: () => void run(), onChange: (take) => void takes.push(take) };
    this.#byLabel.set(label, added);
    return added;
  }

  /**
   * Resolves when all are compiled, with the kernels that must not be used, each with its reason.
   * @param when resolves when pipelines that no step waits for may begin [at once]
   */
  async start(when?: Promise<unknown>): Promise<readonly string[]> {
    this.#compiler.countPrepared();
    await when;
    this.#jobs.sort((a, b) => a.rank - b.rank);
    for (let job = this.#jobs.shift(); job !== undefined && !this.#isStopped; job = this.#jobs.shift()) await job.run();
    if (this.#isStopped) return [];
    const outcomes = [...this.#byLabel].map(async ([label, { ready }]) => {
      const why = await ready.then((pipeline) => pipeline === null && DIFFERS, reasonOf);
      return why === false ? [] : [`${label}: ${why}`];
    });
    return (await Promise.all(outcomes)).flat();
  }

  /** Asks the kernels that are used once more, one after the other. Resolves to those whose answers have changed. */
  async recheck(): Promise<readonly string[]> {
    const all: string[] = [];
    for (const { label, known, ask, takes } of this.#checked) {
      if (this.#isStopped) break;
      const now = await ask();
      const changed = { known: now.known !== known, given: now.given !== known };
      if (!changed.known && !changed.given) continue;
      all.push(
        `${label}: ${changed.given ? CHANGES : "the kernel that it was compared with gives other answers than before"}`,
      );
      for (const take of takes) take(changed);
    }
    return all;
  }

  /** Stops compiling: pipelines that are not ready never will be. */
  stop(): void {
    this.#isStopped = true;
    this.#jobs.length = 0;
  }
}
