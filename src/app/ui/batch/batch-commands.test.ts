import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BatchMetrics } from "../../state/batch/batch-metrics.ts";
import { Batch } from "../../state/batch/batch.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { batchCommands } from "./batch-commands.ts";

beforeEach(() => vi.stubGlobal("matchMedia", () => ({ matches: false })));
afterEach(() => vi.unstubAllGlobals());

it("offers the batching modes but the one that is, the timeline's pause and zoom, and what there is to save", () => {
  const batch = new Batch(new BatchMetrics(() => 0));
  const commands = batchCommands(batch);
  const ids = () => commands.filter(({ isEnabled }) => isEnabled?.() ?? true).map(({ id }) => id);
  const find = (id: string) => commands.find((command) => command.id === id);

  expect(ids()).not.toContain("batch.metrics");
  batch.watch(new FakeEngine());
  expect(ids()).toEqual(expect.arrayContaining(["batch.metrics", "batch.recording"]));
  expect(ids()).not.toContain("batching.continuous");
  find("batching.static")?.run();
  expect(batch.mode.store.getState()).toBe("static");
  expect(ids()).toContain("batching.continuous");
  expect(ids()).not.toContain("batching.static");

  expect(find("timeline.pause")?.title).toBe("Pause the timeline");
  find("timeline.pause")?.run();
  expect(find("timeline.pause")?.title).toBe("Resume the timeline");

  while (ids().includes("timeline.in")) find("timeline.in")?.run();
  expect(ids()).toContain("timeline.out");

  expect(find("batch.toggle")?.title).toBe("Close Batch");
  find("batch.toggle")?.run();
  expect(batch.dock.store.getState().isOpen).toBe(false);
});
