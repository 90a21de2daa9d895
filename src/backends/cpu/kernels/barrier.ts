// All threads meet: each adds 1 to `arrived`, and waits until that has reached `target`.
//
//   at         arrived: only grows, so that nobody disturbs a thread that is still leaving the previous barrier
//   at + 64    sleepers
//   at + 128   whether a thread has failed: then nobody waits any longer
//
// First by spinning, since a wake-up takes 25 to 35 us and a meeting 0.25; then asleep, so that it doesn't take a core
// from the thread it waits for. The last one to arrive wakes the others where any sleeps. A thread that sleeps looks again
// every 100 ms, `maxNaps` times.

import { i32 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import { KERNELS } from "./signatures.ts";

export const BARRIER_BYTES = 192;
const SLEEPERS_OFFSET = 64;
export const FAILED_OFFSET = 128;

export const BARRIER = { met: 0, failed: 1, stalled: 2 } as const;

const NAP_NS = 100_000_000;

export function defineBarrier(module: ModuleBuilder): void {
  module.function("barrier", KERNELS.barrier, (f, { at, target, spins, maxNaps }) => {
    const arrived = f.i32(i32.add(i32.atomicAdd(at, 1), 1));
    const hasFailed = () => f.if(i32.atomicLoad(at, FAILED_OFFSET), () => f.return(i32.const(BARRIER.failed)));
    f.if(i32.eq(arrived, target), () => {
      f.if(i32.atomicLoad(at, SLEEPERS_OFFSET), () => f.drop(i32.atomicNotify(at, -1)));
      f.return(i32.const(BARRIER.met));
    });
    // The counter wraps round: only the difference says who is ahead.
    const isWaiting = i32.ltS(i32.sub(i32.atomicLoad(at), target), 0);
    f.while(i32.and(isWaiting, i32.ne(spins, 0)), () => f.increment(spins, -1));
    f.if(i32.eqz(isWaiting), () => f.return(i32.const(BARRIER.met)));
    f.while(isWaiting, () => {
      hasFailed();
      f.if(i32.eqz(maxNaps), () => f.return(i32.const(BARRIER.stalled)));
      f.drop(i32.atomicAdd(at, 1, SLEEPERS_OFFSET));
      arrived.set(i32.atomicLoad(at));
      f.if(i32.ltS(i32.sub(arrived, target), 0), () => {
        const outcome = f.i32(i32.atomicWait(at, arrived, NAP_NS));
        f.if(i32.eq(outcome, 2), () => f.increment(maxNaps, -1));
      });
      f.drop(i32.atomicAdd(at, -1, SLEEPERS_OFFSET));
    });
    hasFailed();
    f.return(i32.const(BARRIER.met));
  });
}
