import { ChorusError } from "../protocol/errors.ts";
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

/**
 * Kernels whose work others could do, from their compilation until they are known to work. One at which the device is lost or gets
 * stuck is left out when the model is loaded again. Not stored, since the device may be lost for another reason.
 */
export class Trials {
  /** Also twice, in two models of one load. */
  readonly #running = new Set<{ readonly kernel: string }>();
  readonly #leftOut = new Set<string>();
  #numLosses = 0;

  /** Runs a trial. It goes on for as long as nobody knows whether it failed since the device was lost. */
  async run<T>(kernel: string, device: FallibleDevice, trial: () => Promise<T>): Promise<T> {
    const isSuspect = this.#leftOut.has(kernel);
    if (isSuspect || this.#numLosses === MAX_LOSSES) throw new KernelLeftOut(kernel, isSuspect);
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

  /** Leaves out what was being tried when a device was lost or got stuck. */
  blame(): void {
    if (this.#running.size === 0) return;
    for (const { kernel } of this.#running) this.#leftOut.add(kernel);
    this.#running.clear();
    this.#numLosses += 1;
  }
}
