// Chooses among candidates by measuring them, on the first load on an adapter, and stores the result.

import { toChorusError, type ChorusError } from "../../protocol/errors.ts";
import type { TuningStore } from "../backend.ts";
import { KernelLeftOut } from "../trials.ts";
import type { Dispatch, StepSize } from "./kernel.ts";
import type { ModelContext } from "./operations/operations.ts";
import { readAfter } from "./read-after.ts";

/** Number of rounds. Each measures every candidate once, so that a disturbance hits all alike; a candidate's best counts. */
const ROUNDS = 3;
/** Long enough for a browser's coarse clock, and for its polling of the GPU every other millisecond. */
const MIN_MEASURED_MS = 8;
/** The same for browsers that queue-poller.ts makes poll, every four milliseconds at best. */
const MIN_POLLED_MS = 32;
const MAX_REPEATS = 256;

/** A candidate; its name identifies it in the store. */
interface Named {
  readonly name: string;
}

/** Candidates for the same work, the default first. */
type Choice<Candidate> = readonly [Candidate, ...Candidate[]];

/** The chosen candidates, one per choice, and the reason. */
export interface Tuned<Candidate> {
  readonly variants: readonly Candidate[];
  readonly reason: "no choice" | "unmeasured" | "stored" | "measured" | "untried";
}

/**
 * Returns the fastest of each choice, from the store if it has the key. Takes no candidate that is refused; if all of a choice
 * are, throws the last refusal. Where nothing is tried any more, takes the first that has not cost a device. Stores only what was
 * measured, and nothing after the adapter has refused one: a device that is closed refuses everything.
 */
export async function tune<Candidate extends Named>(
  choices: readonly Choice<Candidate>[],
  key: string,
  store: TuningStore,
  measure: (candidate: Candidate) => Promise<number>,
): Promise<Tuned<Candidate>> {
  if (choices.every(({ length }) => length === 1)) {
    return { variants: choices.map(([only]) => only), reason: "no choice" };
  }
  // If the store can't be used (a private window), every load measures again.
  const known = await store.load(key).catch(() => undefined);
  const remembered = choices.map((choice, i) => choice.find(({ name }) => name === known?.[i]));
  if (remembered.every((variant) => variant !== undefined)) return { variants: remembered, reason: "stored" };
  const variants: Candidate[] = [];
  const refusals: ChorusError[] = [];
  for (const choice of choices) variants.push(await fastestOf(choice, measure, refusals));
  const names = variants.map(({ name }) => name);
  const isSure = refusals.every((refusal) => refusal instanceof KernelLeftOut && refusal.isSuspect);
  if (isSure) await store.save(key, names).catch(() => undefined);
  return { variants, reason: refusals.some(isUntried) ? "untried" : "measured" };
}

const isUntried = (refusal: ChorusError) => refusal instanceof KernelLeftOut && !refusal.isSuspect;

async function fastestOf<Candidate extends Named>(
  choice: Choice<Candidate>,
  measure: (candidate: Candidate) => Promise<number>,
  refusals: ChorusError[],
): Promise<Candidate> {
  const best = new Map(choice.map((candidate) => [candidate, Infinity]));
  let untried: Candidate | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    for (const [candidate, ms] of best) {
      try {
        best.set(candidate, Math.min(ms, await measure(candidate)));
      } catch (error) {
        const refusal = toChorusError(error);
        if (refusal.code !== "kernel_refused") throw error;
        best.delete(candidate);
        refusals.push(refusal);
        if (isUntried(refusal)) untried ??= candidate;
      }
    }
  }
  const [fastest = untried] = [...best.keys()].toSorted((a, b) => (best.get(a) ?? 0) - (best.get(b) ?? 0));
  if (fastest === undefined) throw refusals.at(-1);
  return fastest;
}

/** Returns the GPU time of the dispatches, ms. Repeats them until the clock can measure it. */
export async function timedMs(
  model: Pick<ModelContext, "device" | "poller">,
  dispatches: readonly Dispatch[],
  size: StepSize,
): Promise<number> {
  const minMs = model.poller.isNeeded ? MIN_POLLED_MS : MIN_MEASURED_MS;
  const run = async (repeats: number) => {
    const startMs = performance.now();
    await readAfter(model, Array.from({ length: repeats }, () => dispatches).flat(), size, []);
    return performance.now() - startMs;
  };
  await run(1); // warm up
  for (let repeats = 1; ; repeats *= 4) {
    const ms = await run(repeats);
    if (ms >= minMs || repeats >= MAX_REPEATS) return ms / repeats;
  }
}
