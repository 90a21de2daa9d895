import { withStallTimeout } from "../../../protocol/with-stall-timeout.ts";
import { instantiateKernels } from "../kernels/kernels.ts";
import { NOBODY_TO_MEET, ThreadFailure, type BarrierMeeting } from "../program/meeting.ts";
import type { StepThread } from "../program/step-thread.ts";
import type { HelperThread, OpenHelper } from "./helper-thread.ts";
import { CLOSED, SyncWords } from "./sync-memory.ts";
import { openMeeting, openStepThread, type HelperPlan, type SharedPlan } from "./thread-body.ts";
import { ThreadGovernor } from "./thread-governor.ts";

interface PoolOptions {
  /** Number of threads, the calling one included; more than one needs shared memory. */
  readonly threads: number;
  readonly openHelper: OpenHelper;
  /** Time that a thread waits for the others within a step, in units of 100 ms. */
  readonly maxNaps?: number;
}

/** Computes steps on the calling thread and its helpers. */
export class ThreadPool {
  readonly #thread: StepThread;
  readonly #meeting: BarrierMeeting;
  readonly #sync: SyncWords;
  #helpers: readonly Helper[];
  #governor: ThreadGovernor;
  #failure: string | null = null;

  static async open(plan: SharedPlan, { threads, openHelper, maxNaps }: PoolOptions): Promise<ThreadPool> {
    const kernels = await instantiateKernels(plan.module, plan.memory);
    const sync = new SyncWords(plan.memory.buffer, plan.sync);
    if (threads > 1) sync.setFailed(0); // left by an earlier pool
    const starting = Array.from({ length: threads - 1 }, async (_, i) =>
      Helper.start(await openHelper(), { ...plan, index: i + 1 }),
    );
    const helpers = await Promise.all(starting).catch(async (error: unknown) => {
      // Started helpers would wait for ever and hold the memory.
      for (const one of await Promise.allSettled(starting)) if (one.status === "fulfilled") one.value.end();
      throw error;
    });
    const meeting = openMeeting(kernels, plan, maxNaps === undefined ? {} : { maxNaps });
    return new ThreadPool(openStepThread(kernels, plan, 0), meeting, sync, helpers);
  }

  private constructor(thread: StepThread, meeting: BarrierMeeting, sync: SyncWords, helpers: readonly Helper[]) {
    this.#thread = thread;
    this.#meeting = meeting;
    this.#sync = sync;
    this.#helpers = helpers;
    this.#governor = new ThreadGovernor(helpers.length + 1);
  }

  get threads(): number {
    return this.#helpers.length + 1;
  }

  /** Why threads are missing; null if all are there. */
  get failure(): string | null {
    return this.#failure;
  }

  /**
   * Computes the step in memory, and returns when it is done. If a helper has died or does not arrive, the calling thread
   * computes the step again from its beginning, and goes on alone.
   * @param threads may be lowered for measurements
   */
  run(threads = this.#governor.next()): void {
    this.#runOnce(threads);
    this.#thread.keepRows();
  }

  #runOnce(threads: number): void {
    if (threads > 1 && this.#helpers.length > 0) {
      try {
        this.#runTogether(Math.min(threads, this.threads));
        return;
      } catch (error) {
        if (!(error instanceof ThreadFailure)) throw error;
        this.#dropHelpers(error.message);
      }
    }
    this.#thread.run(1, NOBODY_TO_MEET);
  }

  /** Ends the helpers. */
  async close(): Promise<void> {
    this.#sync.begin(CLOSED);
    await Promise.all(this.#helpers.map((helper) => helper.close()));
    this.#helpers = [];
  }

  #runTogether(threads: number): void {
    const beforeMs = performance.now();
    this.#meeting.begin(threads, this.#sync.begin(threads));
    this.#thread.run(threads, this.#meeting);
    this.#governor.report({ threads, stepMs: performance.now() - beforeMs, waitedMs: this.#meeting.waitedMs });
  }

  #dropHelpers(reason: string): void {
    this.#failure = this.#helpers.map((helper) => helper.failure).find((failure) => failure !== null) ?? reason;
    for (const helper of this.#helpers) helper.end();
    this.#helpers = [];
    this.#governor = new ThreadGovernor(1);
    // The failure stays set: a helper that has not ended yet leaves at the next barrier.
  }
}

/** A slow network delivers its script late. */
const MAX_START_MS = 120_000;
const noAnswer = () => new ThreadFailure(`a helper thread gave no answer within ${MAX_START_MS / 1000} seconds`);

/** A started helper thread. */
class Helper {
  readonly #thread: HelperThread;
  readonly #ready: Promise<void>;
  readonly #closed: Promise<void>;
  failure: string | null = null;

  /** Resolves when it is ready for steps. @throws ThreadFailure; DOMException if the plan can't be posted */
  static async start(thread: HelperThread, plan: HelperPlan): Promise<Helper> {
    const helper = new Helper(thread);
    try {
      thread.start(plan);
      await withStallTimeout(() => helper.#ready, { limitMs: MAX_START_MS, error: noAnswer });
      return helper;
    } catch (error) {
      thread.end();
      throw error;
    }
  }

  private constructor(thread: HelperThread) {
    this.#thread = thread;
    this.#ready = new Promise((resolve, reject) => {
      thread.listen((message) => {
        if (message.type === "ready") resolve();
        if (message.type !== "failed") return;
        this.failure = message.message;
        reject(new ThreadFailure(message.message));
      });
    });
    this.#closed = new Promise((resolve) => {
      thread.listen(({ type }) => {
        if (type !== "ready") resolve();
      });
    });
  }

  /** Waits for its last message: a thread that is terminated while it leaves a barrier could leave it between two states. */
  async close(): Promise<void> {
    await this.#closed;
    this.#thread.end();
  }

  end(): void {
    this.#thread.end();
  }
}
