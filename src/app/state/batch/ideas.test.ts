import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { settle } from "../../../../tests/app/open-panes.ts";
import { BatchMetrics } from "./batch-metrics.ts";
import { Batch } from "./batch.ts";
import { Ideas } from "./ideas.ts";

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
  });
});
afterEach(() => void vi.unstubAllGlobals());

it("are shown until they are closed, and on no visit after they were on the page", () => {
  const first = new Ideas();
  expect(first.store.getState()).toBe(true);
  expect(new Ideas().store.getState()).toBe(true); // nobody has seen them yet
  first.markSeen();
  expect(first.store.getState()).toBe(true);
  expect(new Ideas().store.getState()).toBe(false);
  first.close();
  expect(first.store.getState()).toBe(false);
});

it("are closed by the engine's first step", async () => {
  const batch = new Batch(new BatchMetrics(() => 0));
  const engine = new FakeEngine();
  batch.watch(engine);
  expect(batch.ideas.store.getState()).toBe(true);
  void engine.completions.create({ prompt: "Hi" });
  await settle();
  engine.step();
  expect(batch.ideas.store.getState()).toBe(false);
});
