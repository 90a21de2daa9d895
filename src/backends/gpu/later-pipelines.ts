import type { KernelCompiler, KernelVariant } from "./kernel.ts";

/** The order in which pipelines are compiled that no step needs yet. */
export const Rank = {
  /** Filters and rules: a request that has them waits. */
  draws: 0,
  /** Products of one row, of many, and of some: a slower kernel can stand in. */
  answers: 1,
  prompts: 2,
  batches: 3,
  logprobs: 4,
} as const;
export type Rank = (typeof Rank)[keyof typeof Rank];

const DIFFERS = "its answers differ from the known ones";
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** A pipeline that no step needs yet. */
export interface LaterPipeline {
  /** Rejects with kernel_refused; null if the check failed. */
  readonly ready: Promise<GPUComputePipeline | null>;
  /** Compiles it at once: a step waits for it. */
  readonly hurry: () => void;
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
  #isStopped = false;

  constructor(compiler: KernelCompiler) {
    this.#compiler = compiler;
  }

  /** @param check returns whether a pipeline may be used; called once for each variant */
  add(variant: KernelVariant, rank: Rank, check?: (pipeline: GPUComputePipeline) => Promise<boolean>): LaterPipeline {
    const { label, compile } = this.#compiler.prepare(variant);
    const known = this.#byLabel.get(label);
    if (known) return known;
    let begin = (): void => {};
    const ready = new Promise<void>((resolve) => (begin = resolve)).then(async () => {
      const pipeline = await compile();
      // A check uses buffers, which are destroyed at the end.
      if (this.#isStopped) return null;
      return check === undefined || (await check(pipeline)) ? pipeline : null;
    });
    const note = () => this.#compiler.noteReady(label);
    const settled = ready.then(note, note); // the caller of `ready` handles errors
    const run = () => {
      if (!this.#isStopped) begin();
      return settled;
    };
    this.#jobs.push({ rank, run });
    const added: LaterPipeline = { ready, hurry: () => void run() };
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

  /** Stops compiling: pipelines that are not ready never will be. */
  stop(): void {
    this.#isStopped = true;
    this.#jobs.length = 0;
  }
}
