// The start of helper threads, on channels on which messages come late, twice, broken or not at all.

import { EventEmitter } from "node:events";

import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { openCpuModel } from "../../../../tests/cpu/cpu-model.ts";
import { drawFaults, FAULTS, faultyChannel, isBroken, type Fault } from "../../../../tests/fakes/faulty-channel.ts";
import { ThreadFailure } from "../program/meeting.ts";
import { nodeHelper, type HelperThread } from "./helper-thread.ts";
import type { HelperMessage, HelperPlan } from "./thread-body.ts";
import { ThreadPool } from "./thread-pool.ts";

/** The plans that each thread has begun with. */
const begun: number[] = [];
const THREAD_BODY = "./thread-body.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearInterval"] });
  vi.doMock(THREAD_BODY, () => ({
    help: async ({ index }: HelperPlan, say: (message: HelperMessage) => void) => {
      begun.push(index);
      say({ type: "ready" });
    },
  }));
});
afterEach(() => {
  vi.doUnmock(THREAD_BODY);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const NUM_HELPERS = 3;
let numOpened = 0;

/** Runs helper.worker.ts as a new thread would. */
async function openThread(there: Fault | undefined, back: Fault | undefined, onEnd: () => void) {
  const [page, thread] = [new EventEmitter(), new EventEmitter()];
  const to = (side: EventEmitter) => (data: unknown) =>
    void side.emit(data === null ? "messageerror" : "message", data ?? new Error("unreadable"));
  const parentPort = Object.assign(thread, { postMessage: faultyChannel(() => back, to(page)) });
  vi.spyOn(process, "getBuiltinModule").mockReturnValue({ parentPort });
  const fresh = `./helper.worker.ts?${numOpened++}`;
  await import(/* @vite-ignore */ fresh);
  return nodeHelper(Object.assign(page, { postMessage: faultyChannel(() => there, to(thread)), terminate: onEnd }));
}

it("each helper begins once with its own plan; one whose message does not come is an error, and no thread stays", async () => {
  const sizes = { layers: 1, width: 16, heads: 1, keyHeads: 1, inner: 16, vocabSize: 16, context: 16 };
  const most = { maxRows: 1, maxSlots: 1, maxThreads: NUM_HELPERS + 1, isShared: true };
  const formats = { dtype: "f32", cacheDtype: "f32", math: "portable" } as const;
  const { plan } = await openCpuModel({ ...sizes, ...most, ...formats, style: "llama" });
  // What a helper says can always be posted.
  const faultsBack = FAULTS.filter((fault) => fault !== "unpostable");
  await fc.assert(
    fc.asyncProperty(drawFaults(NUM_HELPERS), drawFaults(NUM_HELPERS, faultsBack), async (there, back) => {
      begun.length = 0;
      let numEnded = 0;
      const threads: HelperThread[] = [];
      for (const [i, fault] of there.entries()) threads.push(await openThread(fault, back[i], () => numEnded++));
      const open = { threads: NUM_HELPERS + 1, openHelper: async () => threads.shift() as HelperThread };
      const opening = ThreadPool.open(plan, open).catch((error: unknown) => error);
      const settled = { value: undefined as unknown };
      void opening.then((value) => (settled.value = value));
      while (settled.value === undefined) {
        await new Promise((resolve) => setImmediate(resolve)); // WebAssembly is not of the fake clock
        await vi.advanceTimersByTimeAsync(10_000);
      }
      const opened = await opening;
      const isMissing = (fault: Fault | undefined) => isBroken(fault) || fault === "lost";
      const isWhole = ![...there, ...back].some(isMissing);
      if (isWhole) expect(opened).toBeInstanceOf(ThreadPool);
      else expect(opened).toSatisfy((error) => error instanceof ThreadFailure || error instanceof DOMException);
      expect(numEnded).toBe(isWhole ? 0 : NUM_HELPERS);
      expect(begun.toSorted()).toEqual([1, 2, 3].filter((index) => !isMissing(there[index - 1])));
    }),
    { numRuns: 20 },
  );
});
