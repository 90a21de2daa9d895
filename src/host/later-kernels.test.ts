// When kernels begin to compile that the first step can do without. Timers are simulated.

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";

let model: FakeModel;
let hasStarted: boolean;

/** Lets this much time pass, and all that follows from it. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Lets what is real go on, such as files and ports. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Lets time pass until the promise is settled. */
async function settled<T>(promise: Promise<T>): Promise<T> {
  const run = { isOver: false };
  void promise.catch(() => undefined).finally(() => (run.isOver = true));
  while (!run.isOver) {
    await pass(1);
    await turn();
  }
  return promise;
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  hasStarted = false;
  model = await settled(openFakeModel());
  model.backend.onComplete = () => (hasStarted = true);
});
afterEach(async () => {
  await model.engine.dispose();
  vi.useRealTimers();
});

test("they wait until the first step is over, not only until somebody asks", async () => {
  model.pause();
  const answer = model.engine.completions.create({ prompt: "Hi", max_tokens: 1 });
  // However long its text takes to become tokens, no time passes.
  while ((await model.engine.stats()).num_requests_running === 0) await turn();
  await pass(20);
  expect(hasStarted).toBe(false);
  model.resume();
  await settled(answer);
  expect(hasStarted).toBe(true);
});

test("they wait for half a second, if nobody asks", async () => {
  await pass(400);
  expect(hasStarted).toBe(false);
  await pass(100);
  expect(hasStarted).toBe(true);
});
