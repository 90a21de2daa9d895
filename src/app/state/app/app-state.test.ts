import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { FakeModels } from "../../../../tests/app/fake-models.ts";
import { createAppState, type AppStateOptions } from "./app-state.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const optionsWith = (engine: FakeEngine): AppStateOptions => ({
  createEngine: async () => engine,
  models: new FakeModels(),
  choice: { model: "models/chorus-chat/" },
  addressSettings: {},
  scheduleFlush: (flush) => flush(),
  now: () => performance.now(),
});

it("has no timer while nothing runs: before the first question, after an answer, and beside other engines", async () => {
  const engine = new FakeEngine({ answer: () => "one two" });
  const { workspace, batch, serving } = createAppState(optionsWith(engine));
  const [pane] = workspace.store.getState().panes;
  const settle = () => vi.advanceTimersByTimeAsync(5000);
  await settle();
  expect(vi.getTimerCount()).toBe(0);
  batch.cacheMap.watchWhileVisible();
  pane?.send("Count.");
  await vi.advanceTimersByTimeAsync(0);
  engine.step();
  await vi.advanceTimersByTimeAsync(1000);
  expect(vi.getTimerCount()).toBe(1);
  engine.step();
  await settle();
  expect(pane?.store.getState().phase).toBe("idle");
  expect(vi.getTimerCount()).toBe(0);
  const seen = vi.fn<() => void>();
  batch.charts.store.subscribe(seen);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).not.toHaveBeenCalled();
  await serving.apply({ maxNumSeqs: 7 });
  await settle();
  expect(batch.metrics.store.getState().slots).toBe(7);
  expect(vi.getTimerCount()).toBe(0);
});

it("compares answers that change while nothing runs", async () => {
  const { workspace, differences } = createAppState(optionsWith(new FakeEngine()));
  const panes = [...workspace.store.getState().panes, workspace.addPane()];
  await vi.advanceTimersByTimeAsync(5000);
  for (const [index, pane] of panes.entries()) {
    const turns = [{ id: 1, question: "Why?", answer: `Because ${index} is.`, end: "stop" as const }];
    pane?.replaceChat({ title: null, settings: {}, turns, contextStart: 0, draft: "" });
  }
  await vi.advanceTimersByTimeAsync(1000);
  expect(differences.store.getState().size).toBe(2);
});

it("brings an engine's reports to the strip and to the pane they are about", async () => {
  const engine = new FakeEngine({ answer: () => "one two three four" });
  const { workspace, batch } = createAppState(optionsWith(engine));
  const [requested] = workspace.store.getState().panes;
  const idle = workspace.addPane();
  await vi.advanceTimersByTimeAsync(0);
  requested?.send("Count.");
  await vi.advanceTimersByTimeAsync(20);
  for (let step = 0; step < 3; step++) {
    engine.step();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(batch.metrics.store.getState()).toMatchObject({ running: 1, peakSequences: 1, step: 3 });
  expect(requested?.store.getState().figures).toMatchObject({
    tokensPerSecond: 10,
    ttftMs: 20,
    outputTokens: 3,
    queuePlace: null,
    queueWaitS: null,
  });
  expect(idle?.store.getState().figures).toBeNull();
});
