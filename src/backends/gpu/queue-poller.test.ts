import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { QueuePoller } from "./queue-poller.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A queue whose browser looks for finished work every `everyMs`, and at each submit. */
function lookingEvery(everyMs: number) {
  let waiting: (() => void)[] = [];
  let numSubmits = 0;
  const look = () => {
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  setInterval(look, everyMs);
  const finished = () => new Promise<void>((resolve) => waiting.push(resolve));
  const submit = () => {
    numSubmits += 1;
    look();
  };
  return { queue: { submit } as unknown as GPUQueue, finished, numSubmits: () => numSubmits };
}

it.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0", true],
  ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36", false],
])("%s needs it: %s", (userAgent, isNeeded) => {
  vi.stubGlobal("navigator", { userAgent });
  expect(new QueuePoller(lookingEvery(2).queue).isNeeded).toBe(isNeeded);
});

it("leaves a browser alone that looks often", async () => {
  const { queue, finished, numSubmits } = lookingEvery(2);
  const waiting = new QueuePoller(queue, false).settled(finished());
  await vi.advanceTimersByTimeAsync(10);
  await waiting;
  expect(numSubmits()).toBe(0);
});

it("makes a browser look that would do so too late, while somebody waits and no longer", async () => {
  const { queue, finished, numSubmits } = lookingEvery(100);
  const poller = new QueuePoller(queue, true);
  const waiting = Promise.all([poller.settled(finished()), poller.settled(finished())]);
  await vi.advanceTimersByTimeAsync(5);
  await waiting;
  expect(numSubmits()).toBe(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(numSubmits()).toBe(1);
});

it("stops where the work fails", async () => {
  const { queue, numSubmits } = lookingEvery(100);
  await expect(new QueuePoller(queue, true).settled(Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  await vi.advanceTimersByTimeAsync(500);
  expect(numSubmits()).toBe(0);
});
