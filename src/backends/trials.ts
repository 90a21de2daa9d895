import { ChorusError, toChorusError } from "../protocol/errors.ts";
import { causeOf, type FallibleDevice } from "./backend-failure.ts";

/** After so many lost devices no kernel is tried any more. Browsers take the GPU away from pages that lose it often. */
const MAX_LOSSES = 2;

/** Thrown in place of a trial. */
export class KernelLeftOut extends ChorusError {
  /** Whether it was being tried when the device was lost; otherwise no kernel is tried any more. */
  readonly isSuspect: boolean;

  constructor(kernel: string, isSuspect: boolean) {
    const tried = isSuspect ? "it was tried" : "others were tried";
    super("kernel_refused", `${kernel} is left out: the GPU was lost or got stuck while ${tried}.`);
    this.isSuspect = isSuspect;
  }
}

/** What a load tries, and leaves out since the device was lost or got stuck. Not stored, as that may have had another reason. */
export class Trials {
  /** Also twice, in two models of one load. */
  readonly #running = new Set<{ readonly kernel: string }>();
  #leftOut: ReadonlySet<string> = new Set();
  #numLosses = 0;
  /** Whether needed kernels are proved one by one. */
  isCareful = false;
  /** The last proof; rejects if the device may be lost. */
  #proved: Promise<unknown> = Promise.resolve();

  /** Compiles and uses a kernel that others could stand in for. @throws as `trial`; KernelLeftOut */
  async run<T>(kernel: string, device: FallibleDevice, trial: () => Promise<T>): Promise<T> {
    const isSuspect = this.#leftOut.has(kernel);
    if (isSuspect || this.#numLosses >= MAX_LOSSES) throw new KernelLeftOut(kernel, isSuspect);
    return this.#watch(kernel, device, trial);
  }

  /** Compiles or uses a kernel that the load needs. @throws as `work`; KernelLeftOut */
  async prove<T>(kernel: string, device: FallibleDevice, work: () => Promise<T>): Promise<T> {
    if (this.#leftOut.has(kernel)) throw new KernelLeftOut(kernel, true);
    if (!this.isCareful) return work();
    const proof = this.#proved.then(() => this.#watch(kernel, device, work));
    this.#proved = proof.catch((error: unknown) => {
      if (toChorusError(error).code === "device_lost") throw error;
    });
    this.#proved.catch(() => undefined); // `proof` is for who awaits it
    return proof;
  }

  /** Returns the trials of the next load. It leaves out what was being tried now; if nothing was, it is careful. */
  afterLoss(): Trials {
    const next = new Trials();
    next.#leftOut = new Set([...this.#leftOut, ...Array.from(this.#running, ({ kernel }) => kernel)]);
    next.isCareful = this.#running.size === 0;
    next.#numLosses = this.#numLosses + Number(!next.isCareful);
    return next;
  }

  /** A trial goes on for as long as nobody knows whether it failed since the device was lost. */
  async #watch<T>(kernel: string, device: FallibleDevice, trial: () => Promise<T>): Promise<T> {
    const running = { kernel };
    this.#running.add(running);
    try {
      const result = await trial();
      this.#running.delete(running);
      return result;
    } catch (error) {
      const cause = await causeOf(device, error);
      if (cause.code !== "device_lost") this.#running.delete(running);
      throw cause;
    }
  }
}
