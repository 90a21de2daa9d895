// Chooses among candidates by measuring them, on the first load on an adapter, and stores the result.

import type { TuningStore } from "../backend.ts";
import type { OpenedDevice } from "./device.ts";
import { encode, type Dispatch, type StepSize } from "./kernel.ts";

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
  readonly reason: "no choice" | "unmeasured" | "stored" | "measured";
}

/** Returns the fastest of each choice, from the store if it has the key. */
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
  const chosen: Candidate[] = [];
  for (const choice of choices) chosen.push(await fastestOf(choice, measure));
  await store
    .save(
      key,
      chosen.map(({ name }) => name),
    )
    .catch(() => undefined);
  return { variants: chosen, reason: "measured" };
}

async function fastestOf<Candidate extends Named>(
  choice: Choice<Candidate>,
  measure: (candidate: Candidate) => Promise<number>,
): Promise<Candidate> {
  const best = new Map<Candidate, number>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const variant of choice) {
      const ms = await measure(variant);
      best.set(variant, Math.min(ms, best.get(variant) ?? Infinity));
    }
  }
  const fastest = Math.min(...best.values());
  return choice.find((variant) => best.get(variant) === fastest) ?? choice[0];
}

/** Returns the GPU time of the dispatches, ms. Repeats them until the clock can measure it. */
export async function timedMs(
  { device, poller }: Pick<OpenedDevice, "device" | "poller">,
  dispatches: readonly Dispatch[],
  size: StepSize,
): Promise<number> {
  const minMs = poller.isNeeded ? MIN_POLLED_MS : MIN_MEASURED_MS;
  const run = async (repeats: number) => {
    const startMs = performance.now();
    const encoder = device.createCommandEncoder({ label: "tuning" });
    const pass = encoder.beginComputePass({ label: "tuning" });
    for (let i = 0; i < repeats; i++) for (const dispatch of dispatches) encode(pass, dispatch, size);
    pass.end();
    device.queue.submit([encoder.finish()]);
    await poller.settled(device.queue.onSubmittedWorkDone());
    return performance.now() - startMs;
  };
  await run(1); // warm up
  for (let repeats = 1; ; repeats *= 4) {
    const ms = await run(repeats);
    if (ms >= minMs || repeats >= MAX_REPEATS) return ms / repeats;
  }
}
