import { afterEach, expect, it, vi } from "vitest";

import { TaskQueue } from "./task-queue.ts";

afterEach(() => vi.unstubAllGlobals());

it.each(["setImmediate", "messages"])("begins tasks in order, each in a turn of its own, by %s", async (by) => {
  if (by !== "setImmediate") vi.stubGlobal("setImmediate", undefined);
  const tasks = new TaskQueue();
  const seen: string[] = [];
  const first = tasks.next().then(() => {
    seen.push("first");
    // Promises go before tasks.
    void Promise.resolve().then(() => seen.push("what follows from it"));
  });
  const second = tasks.next().then(() => seen.push("second"));
  seen.push("the caller");
  await Promise.all([first, second]);
  expect(seen).toEqual(["the caller", "first", "what follows from it", "second"]);
  tasks.close();
});

it.each(["setImmediate", "messages"])("begins no task once it is closed, by %s", async (by) => {
  if (by !== "setImmediate") vi.stubGlobal("setImmediate", undefined);
  const tasks = new TaskQueue();
  let hasStarted = false;
  void tasks.next().then(() => (hasStarted = true));
  tasks.close();
  vi.unstubAllGlobals();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(hasStarted).toBe(false);
});
