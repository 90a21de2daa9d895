import { expect, it, vi } from "vitest";
import type { FakeEngineOptions } from "../../../../tests/app/fake-engine.ts";
import { openPanes, settle } from "../../../../tests/app/open-panes.ts";
import { modeOf, openServing, Serving } from "../engine/serving.ts";
import { Demo, demoResult, sameAnswers, speedup } from "./demo.ts";

async function openDemo(options: FakeEngineOptions = {}) {
  const panes = openPanes({ answer: () => "It is so.", ...options });
  const serving = new Serving({ engine: panes.control, opened: openServing(null), onLink: () => undefined });
  await panes.control.start();
  let nowMs = 0;
  const demo = new Demo({ ...panes.context, serving, now: () => nowMs });
  const pass = async (ms: number, steps: number) => {
    nowMs += ms;
    await panes.step(steps);
  };
  const mode = () => modeOf(serving.store.getState());
  const isLocked = () => serving.store.getState().lockedMode !== null;
  return { ...panes, serving, demo, mode, isLocked, pass };
}

it("asks all at once, then the same one after the other, and keeps both times", async () => {
  const { demo, serving, first, pass, announcements } = await openDemo();
  serving.chooseMode("static");
  const done = demo.start();
  expect(demo.store.getState()).toMatchObject({ phase: "running" });
  await pass(0, 3); // the warm-up
  expect(demo.store.getState().panes.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  await pass(1000, 3);
  await pass(2500, 24);
  await done;

  const { phase, together, apart } = demo.store.getState();
  expect(phase).toBe("done");
  expect(together).toMatchObject({ status: "done", elapsedMs: 1000 });
  expect(apart).toMatchObject({ status: "done", elapsedMs: 2500 });
  expect(sameAnswers(together, apart)).toBe(8);
  expect(speedup(together, apart)).toBe("2.5");
  expect(first.updates.map(({ batchingMode }) => batchingMode)).toEqual([
    "static",
    "continuous",
    "sequential",
    "static",
  ]);
  expect(announcements.store.getState().map(({ text }) => text)).toEqual([
    "All eight together took only as long as 3.2 of them one after the other. Exactly the same answers both times.",
  ]);

  const questions = first.accepted.map(({ messages, seed, max_tokens }) => ({ messages, seed, max_tokens }));
  expect(questions).toHaveLength(24);
  expect(questions.slice(16)).toEqual(questions.slice(8, 16));
});

it("counts answers that differ", async () => {
  let numAnswers = 0;
  const { demo, pass } = await openDemo({ answer: () => (numAnswers++ === 17 ? "Or is it?" : "It is so.") });
  const done = demo.start();
  await pass(0, 3);
  await pass(1000, 3);
  await pass(1000, 24);
  await done;
  const { together, apart } = demo.store.getState();
  expect(sameAnswers(together, apart)).toBe(7);
  expect(demoResult(demo.store.getState())).toContain("Only 7 answers are the same both times");
});

it("asks sixteen on request, and again, until it is closed", async () => {
  const { demo, first, pass } = await openDemo();
  const done = demo.start(16);
  await pass(0, 3);
  await pass(1000, 3);
  await pass(4000, 48);
  await done;
  expect(demo.store.getState()).toMatchObject({ phase: "done", size: 16 });
  expect(demoResult(demo.store.getState())).toBe(
    "All sixteen together took only as long as 4.0 of them one after the other. Exactly the same answers both times.",
  );
  expect(new Set(first.accepted.map(({ messages }) => messages?.at(-1)?.content)).size).toBe(16);
  void demo.start();
  expect(demo.store.getState().size).toBe(16);
  demo.close();
  expect(demo.store.getState().size).toBe(8);
});

it("stops at any time: nothing runs on, and the mode is what it was", async () => {
  const { demo, serving, mode, first, pass } = await openDemo();
  serving.chooseMode("static");
  void demo.start();
  await pass(0, 3);
  await pass(1000, 3);
  expect(mode()).toBe("sequential");
  demo.close();
  await settle();
  expect(demo.store.getState()).toMatchObject({ phase: "closed", panes: [] });
  expect(mode()).toBe("static");
  expect((await first.stats()).num_requests_running).toBe(0);
});

it("stops in its warm-up, too, and holds the mode only while it runs", async () => {
  const { demo, isLocked, first, pass } = await openDemo();
  void demo.start();
  expect(isLocked()).toBe(true);
  await pass(0, 1);
  expect((await first.stats()).num_requests_running).toBeGreaterThan(0);
  demo.close();
  await settle();
  const stats = await first.stats();
  expect(stats.num_requests_running + stats.num_requests_waiting).toBe(0);
  expect(isLocked()).toBe(false);
});

it("says so when the engine dies on the way", async () => {
  const { demo, mode, isLocked, first, pass } = await openDemo();
  const done = demo.start();
  await pass(0, 3);
  first.die({ code: "device_lost", message: "Gone.", param: null });
  await done;
  expect(demo.store.getState().phase).toBe("failed");
  expect(isLocked()).toBe(false);
  expect(mode()).toBe("continuous");
});

it("asks by the names of its own panes: the person's of the same number have not asked", async () => {
  const { demo, first, step, pass, openPane } = await openDemo();
  const pane = openPane(1);
  pane.send("One?");
  await step(3);
  void demo.start();
  await pass(0, 3);
  await pass(0, 1);
  const ids = first.accepted.map((body) => `chatcmpl-${body.request_id}`).filter((id) => id.includes("-pane-1-"));
  expect(ids).toHaveLength(3); // the person's question, the warm-up and the first run's
  expect(ids.map((id) => pane.memory.requestNames.has(id))).toEqual([true, false, false]);
  const [inDemo] = demo.store.getState().panes;
  expect(ids.map((id) => inDemo!.memory.requestNames.has(id))).toEqual([false, false, true]);
  demo.close();
});

it("asks this page's engine alone, whatever server the person uses for long queues", async () => {
  const spillOver = { baseUrl: "http://localhost:8000/v1", model: "m", limitS: 1 };
  const kept = JSON.stringify({ connections: [], spillOver });
  vi.stubGlobal("localStorage", { getItem: () => kept, setItem: () => {} });
  const { demo, requestStats, first, pass } = await openDemo();
  vi.spyOn(requestStats, "expectedWaitS").mockReturnValue(8);
  void demo.start();
  await pass(0, 3);
  await pass(0, 1);
  vi.unstubAllGlobals();
  expect(first.accepted).toHaveLength(16); // the warm-up and the first run
  demo.close();
});
