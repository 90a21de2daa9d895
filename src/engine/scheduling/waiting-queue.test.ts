import { expect, it } from "vitest";
import { samplingParams } from "../../../tests/fakes/engine-harness.ts";
import type { SchedulingPolicy } from "../../protocol/config.ts";
import { Sequence } from "../sequence.ts";
import { RemainingSteps } from "./remaining-steps.ts";
import { WaitingQueue } from "./waiting-queue.ts";

function sequence(requestId: string, priority: number): Sequence {
  return new Sequence({ requestId, index: 0, params: samplingParams(), prompt: [1], arrivalMs: 0, priority });
}

function createQueue(policy: SchedulingPolicy): WaitingQueue {
  return new WaitingQueue(policy, new RemainingSteps({ maxNumBatchedTokens: 64 }));
}

function order(queue: WaitingQueue, step: number): string[] {
  return queue.inOrder(step, []).map(({ requestId }) => requestId);
}

it("who waits moves up", () => {
  const queue = createQueue("priority");
  queue.add(sequence("patient", 1), 0);
  queue.add(sequence("urgent", 0), 90);
  expect(order(queue, 90)).toEqual(["urgent", "patient"]);
  queue.add(sequence("late", 0), 150);
  // Ranks: 0 - 0.6, 1 - 1.5, 0.
  expect(order(queue, 150)).toEqual(["urgent", "patient", "late"]);
});

it("what was preempted keeps the place its waiting earned, so that newcomers can't throw it out for ever", () => {
  const queue = createQueue("priority");
  const preempted = sequence("preempted", 1);
  queue.add(preempted, 0);
  queue.inOrder(150, []);
  queue.remove(preempted);
  // It ran for a hundred steps, which earned nothing, and is back.
  queue.add(preempted, 250);
  queue.add(sequence("newcomer", 0), 250);
  expect(order(queue, 250)).toEqual(["preempted", "newcomer"]);
  expect(preempted.rank).toBe(-0.5);
});

it("under fcfs what comes back stands where it first stood", () => {
  const queue = createQueue("fcfs");
  const [a, b, c] = ["a", "b", "c"].map((id) => sequence(id, 0));
  for (const each of [a!, b!, c!]) queue.add(each, 0);
  queue.remove(b!);
  queue.remove(a!);
  queue.add(b!, 5);
  queue.add(a!, 6);
  expect(order(queue, 7)).toEqual(["a", "b", "c"]);
});

it.each(["fcfs", "priority"] as const)(
  "%s: tells the first requests in order, a request of several choices once",
  (policy) => {
    const queue = createQueue(policy);
    const [a, late] = [sequence("a", 2), sequence("late", 0)];
    for (const each of [a, sequence("a", 2), sequence("b", 1)]) queue.add(each, 0);
    const first = () => queue.firstRequestIds(5, 2);
    expect(first()).toEqual(policy === "fcfs" ? ["a", "b"] : ["b", "a"]);
    queue.add(late, 5);
    expect(first()).toEqual(policy === "fcfs" ? ["a", "b"] : ["late", "b"]);
    queue.remove(late);
    queue.remove(a);
    expect(first()).toEqual(policy === "fcfs" ? ["a", "b"] : ["b", "a"]);
  },
);
