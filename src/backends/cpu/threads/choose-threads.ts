import { ThreadFailure } from "../program/meeting.ts";
import { NO_STATE } from "../../../engine/step-plan.ts";
import { ROW_WORDS, STATE_WORDS } from "../program/step-memory.ts";
import type { OpenHelper } from "./helper-thread.ts";
import type { SharedPlan } from "./thread-body.ts";
import { ThreadPool } from "./thread-pool.ts";

/** Rows of the measured step: those of a few chats at once. */
const TRIAL_ROWS = 4;
/** The first steps are slow: their code is not fully optimised yet. */
const WARM_UP_STEPS = 3;
const TRIAL_STEPS = 8;
const MAX_TRIAL_MS = 250;
/** More threads must be faster by this factor, since others may need the cores. */
const WORTHWHILE = 0.95;

/**
 * Returns the number of threads, up to `most`, that compute a step the fastest: powers of two and `most` are tried. Returns
 * one where helpers can't start (a page may forbid workers).
 */
export async function chooseThreads(
  plan: SharedPlan,
  most: number,
  openHelper: OpenHelper,
  now: () => number = () => performance.now(),
): Promise<number> {
  if (most === 1) return 1;
  let pool: ThreadPool;
  try {
    pool = await ThreadPool.open(plan, { threads: most, openHelper });
  } catch (error) {
    if (error instanceof ThreadFailure) return 1;
    throw error;
  }
  writeTrialStep(plan);
  const fastest = fastestNumber(most, (threads) => pool.run(threads), now);
  await pool.close();
  return pool.failure === null ? fastest : 1;
}

/** Returns the number of threads with the quickest step. A larger number must be faster by enough. */
export function fastestNumber(most: number, step: (threads: number) => void, now: () => number): number {
  let best = { threads: 1, ms: Infinity };
  for (const threads of numbersUpTo(most)) {
    const ms = quickestMs(() => step(threads), now);
    if (ms < best.ms * WORTHWHILE) best = { threads, ms };
  }
  return best.threads;
}

/** Returns 1, 2, 4 and so on, and `most`. */
function numbersUpTo(most: number): number[] {
  const numbers: number[] = [];
  for (let threads = 1; threads < most; threads *= 2) numbers.push(threads);
  return [...numbers, most];
}

/** Returns the time of the quickest of some steps. */
function quickestMs(step: () => void, now: () => number): number {
  let best = Infinity;
  const begin = now();
  for (let i = 0; i < WARM_UP_STEPS + TRIAL_STEPS; i++) {
    const before = now();
    step();
    const after = now();
    best = Math.min(best, after - before);
    if (after - begin > MAX_TRIAL_MS) break;
  }
  return best;
}

/** Writes rows of token 0 at position 0: they change only the first block and first states, which nobody has read yet. */
function writeTrialStep({ memory, thread }: SharedPlan): void {
  const { head, rows, maxRows, states, maxSlots, numStates } = thread.step;
  const words = new Uint32Array(memory.buffer);
  const numRows = Math.min(TRIAL_ROWS, maxRows);
  const numStated = Math.min(numRows, maxSlots, numStates);
  words.set([numRows, 0, numStated], head / 4);
  for (let i = 0; i < numStated; i++) words.set([i, 1, NO_STATE, i, 0, 0], states / 4 + i * STATE_WORDS);
  words.fill(0, rows / 4, rows / 4 + numRows * ROW_WORDS);
}
