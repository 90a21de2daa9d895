import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  LimitedThread,
  LONGEST_START_MS,
  ThreadEnded,
  ThreadNotStarted,
  TookTooLong,
  type LimitedPort,
} from "./limited-thread.ts";
import { ALIVE } from "./thread-port.ts";

type Hear = Parameters<LimitedPort<string, string>["listen"]>[0];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const LIMIT_MS = 1000;

/** A thread that says what it is made to say. */
function open(mayLeave = () => false) {
  let notify: Hear = () => undefined;
  let numEnded = 0;
  const port: LimitedPort<string, string> = {
    post: () => undefined,
    listen: (onMessage) => (notify = onMessage),
    end: () => void numEnded++,
  };
  const thread = new LimitedThread<string, string>(port, "What counts", mayLeave);
  const ask = (call: string, patienceMs?: number) =>
    thread.ask(call, LIMIT_MS, patienceMs).catch((error: unknown) => error);
  return { thread, ask, say: (message: Parameters<Hear>[0]) => notify(message), numEnded: () => numEnded };
}

it("a call's time begins when the thread is there: a busy page starts it late", async () => {
  const { ask, say } = open();
  const [first, second] = [ask("first"), ask("second")];
  await vi.advanceTimersByTimeAsync(60 * LIMIT_MS);
  say(ALIVE);
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
  say({ id: 1, value: "one" });
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
  say({ id: 2, value: "two" });
  expect(await Promise.all([first, second])).toEqual(["one", "two"]);
});

it("ends a call that takes too long from then on, also where the thread is there before the call", async () => {
  const { ask, say, numEnded } = open();
  say(ALIVE);
  await vi.advanceTimersByTimeAsync(60 * LIMIT_MS);
  const answer = ask("endless");
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 1);
  expect(await answer).toBeInstanceOf(TookTooLong);
  expect(numEnded()).toBe(1);
});

it("an answer shows as well that the thread is there", async () => {
  const { ask, say } = open();
  const [first, second] = [ask("first"), ask("endless")];
  say({ id: 1, value: "one" });
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 1);
  expect(await first).toBe("one");
  expect(await second).toBeInstanceOf(TookTooLong);
});

it("says so if the thread never comes, and has no answer for later calls either", async () => {
  const { thread, ask, numEnded } = open();
  const [first, second] = [ask("first"), ask("second")];
  await vi.advanceTimersByTimeAsync(LONGEST_START_MS - 1);
  expect(thread.isEnded).toBe(false);
  await vi.advanceTimersByTimeAsync(2);
  const message = "What counts has not started within 180 s: what starts it is busy, or can't load it.";
  for (const one of [first, second, ask("third")]) {
    expect(await one).toBeInstanceOf(ThreadNotStarted);
    expect(await one).toMatchObject({ message });
  }
  expect(numEnded()).toBe(1);
});

it("is left to a slow call, takes no others, and ends with that call's answer", async () => {
  const { thread, ask, say, numEnded } = open(() => true);
  say(ALIVE);
  const [slow, behind] = [ask("slow", LIMIT_MS / 2), ask("behind")];
  await vi.advanceTimersByTimeAsync(LIMIT_MS / 2 + 1);
  expect(await behind).toBeInstanceOf(ThreadEnded);
  expect(await ask("later")).toBeInstanceOf(ThreadEnded);
  expect([thread.isLeft, thread.isEnded, numEnded()]).toEqual([true, true, 0]);
  say({ id: 1, value: "one" });
  expect(await slow).toBe("one");
  expect([thread.isLeft, thread.isEnded, numEnded()]).toEqual([false, true, 1]);
});
