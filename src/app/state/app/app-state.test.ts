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
  sampling: {},
  scheduleFlush: (flush) => flush(),
  now: () => performance.now(),
});

it("brings an engine's reports to the strip and to the pane they are about", async () => {
  const engine = new FakeEngine({ answer: () => "one two three four" });
  const { workspace, metrics } = createAppState(optionsWith(engine));
  const [requested] = workspace.store.getState().panes;
  const idle = workspace.addPane();
  await vi.advanceTimersByTimeAsync(0);
  requested?.send("Count.");
  await vi.advanceTimersByTimeAsync(20);
  for (let step = 0; step < 3; step++) {
    engine.step();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(metrics.store.getState()).toMatchObject({ running: 1, peakSequences: 1, step: 3 });
  expect(requested?.store.getState().figures).toMatchObject({
    tokensPerSecond: 10,
    ttftMs: 20,
    outputTokens: 3,
    queuePlace: null,
    queueWaitS: null,
  });
  expect(idle?.store.getState().figures).toBeNull();
});
