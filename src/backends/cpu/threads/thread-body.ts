import { instantiateKernels } from "../kernels/kernels.ts";
import type { Kernels } from "../kernels/signatures.ts";
import { BarrierMeeting } from "../program/meeting.ts";
import { StepThread, type ThreadPlan } from "../program/step-thread.ts";
import { Sampler, type SamplerMemory } from "../sampler/sampler.ts";
import { CLOSED, SyncWords, type SyncMemory } from "./sync-memory.ts";

/** All that a thread needs; plain data that may be posted. */
export interface SharedPlan {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly thread: ThreadPlan;
  readonly sampler: SamplerMemory;
  readonly sync: SyncMemory;
}

/** The start message of a helper thread. */
export interface HelperPlan extends SharedPlan {
  readonly index: number;
}

/** Messages of a helper thread. */
export type HelperMessage =
  | { readonly type: "ready" | "closed" }
  | { readonly type: "failed"; readonly message: string };

/** 10 us: a wake-up takes longer, and longer spinning would take the core from others. */
const SPINS = 20_000;
/** Naps of 100 ms for which a thread waits for the others within a step. */
const MAX_NAPS = 100;

export function openStepThread(kernels: Kernels, plan: SharedPlan, index: number): StepThread {
  const { buffer } = plan.memory;
  const sampler = new Sampler(kernels, buffer, plan.thread.step, plan.sampler, index);
  return new StepThread(kernels, buffer, plan.thread, sampler, index);
}

export function openMeeting(kernels: Kernels, plan: SharedPlan, { maxNaps = MAX_NAPS } = {}): BarrierMeeting {
  return new BarrierMeeting(kernels, plan.sync.barrier, { spins: SPINS, maxNaps });
}

/** Runs a helper thread: computes its share of each step until the pool closes. */
export async function help(plan: HelperPlan, say: (message: HelperMessage) => void): Promise<void> {
  let sync: SyncWords | null = null;
  try {
    sync = new SyncWords(plan.memory.buffer, plan.sync);
    const kernels = await instantiateKernels(plan.module, plan.memory);
    const thread = openStepThread(kernels, plan, plan.index);
    const meeting = openMeeting(kernels, plan);
    let go = sync.go;
    say({ type: "ready" });
    for (;;) {
      sync.waitForGo(go, SPINS);
      go = sync.go;
      const threads = go & 0xff;
      if (threads === CLOSED) break;
      if (plan.index >= threads) continue;
      meeting.begin(threads, sync.arrivals);
      thread.run(threads, meeting);
    }
    say({ type: "closed" });
  } catch (error) {
    sync?.fail();
    say({ type: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}
