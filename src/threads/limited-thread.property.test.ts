// Whatever happens to messages, no call gets another's answer.

import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { drawFaults, faultyChannel, FAULTS, isBroken, type Fault } from "../../tests/fakes/faulty-channel.ts";
import { LimitedThread, LONGEST_START_MS, type LimitedPort } from "./limited-thread.ts";
import { answerCalls } from "./serve-thread.ts";
import { ALIVE, type NumberedCall, type ThreadAnswer } from "./thread-port.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Hear = Parameters<LimitedPort<number, string>["listen"]>[0];

const LIMIT_MS = 1000;
const NUM_CALLS = 8;
const answerTo = (call: number) => `the answer to ${call}`;

/** Asks a thread whose calls and answers have these faults, and returns what each call gets. */
async function ask(there: readonly Fault[], back: readonly Fault[]): Promise<unknown[]> {
  let hear: Hear = () => undefined;
  const answer = faultyChannel<ThreadAnswer<string>>(
    (message) => ("value" in message ? back[Number(message.value.split(" ").at(-1))] : "none"),
    (message) => hear(message),
  );
  const take = answerCalls(answerTo, (message) => answer(message as ThreadAnswer<string>));
  const thread = new LimitedThread<number, string>(
    {
      post: faultyChannel<NumberedCall<number>>(({ call }) => there[call], take),
      listen: (onAnswer) => void (hear = onAnswer),
      end: () => void (hear = () => undefined),
    },
    "It",
  );
  hear(ALIVE);
  const calls = Array.from({ length: NUM_CALLS }, (_, call) =>
    thread.ask(call, LIMIT_MS).catch((error: unknown) => error),
  );
  await vi.advanceTimersByTimeAsync(LONGEST_START_MS);
  return Promise.all(calls);
}

it("a message that comes late, twice, or can't be posted or read fails its own call alone", async () => {
  const faults = drawFaults(
    NUM_CALLS,
    FAULTS.filter((fault) => fault !== "lost"),
  );
  await fc.assert(
    fc.asyncProperty(faults, faults, async (there, back) => {
      const got = await ask(there, back);
      got.forEach((value, call) => {
        if (isBroken(there[call]) || isBroken(back[call])) expect(value).toBeInstanceOf(Error);
        else expect(value).toBe(answerTo(call));
      });
    }),
  );
});

it("where messages are lost as well, each call gets its own answer or an error within its time", async () => {
  await fc.assert(
    fc.asyncProperty(drawFaults(NUM_CALLS), drawFaults(NUM_CALLS), async (there, back) => {
      const got = await ask(there, back);
      got.forEach((value, call) => {
        if (!(value instanceof Error)) expect(value).toBe(answerTo(call));
      });
    }),
  );
});
