import { expect, it, vi } from "vitest";
import type { BatchingMode } from "../../../protocol/config.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { BatchingModeControl } from "./batching-mode.ts";

it("tells the engine at once, and the next engine when it is there", () => {
  const [first, second] = [new FakeEngine(), new FakeEngine()];
  const control = new BatchingModeControl();
  control.watch(first);
  expect(first.updates).toEqual([]);
  control.choose("static");
  expect(first.updates).toEqual([{ batchingMode: "static" }]);
  control.watch(null);
  control.choose("sequential");
  expect(control.store.getState()).toBe("sequential");
  control.watch(second);
  expect(second.updates).toEqual([{ batchingMode: "sequential" }]);
});

it("follows what another tab chooses for the engine that they share, and what it finds there", async () => {
  const engine = new FakeEngine();
  const control = new BatchingModeControl();
  control.watch(engine);
  await engine.update({ batchingMode: "static" });
  expect(control.store.getState()).toBe("static");
  expect(control.isFollowing).toBe(true);
  control.choose("continuous");
  expect(control.isFollowing).toBe(false);

  const joined = new FakeEngine({ mode: "sequential" });
  control.watch(joined);
  expect(control.store.getState()).toBe("sequential");
  expect(joined.updates).toEqual([]);
  // The engine before has nothing to say any more.
  await engine.update({ batchingMode: "static" });
  expect(control.store.getState()).toBe("sequential");
});

it("does not go back to an older choice that the engine tells of late, and takes another tab's newer one", async () => {
  const engine = new FakeEngine();
  const update = engine.update.bind(engine);
  const notify = (batchingMode: BatchingMode) => update({ batchingMode });
  let take: () => void = () => undefined;
  vi.spyOn(engine, "update").mockImplementation(() => new Promise((resolve) => (take = () => resolve(engine.config))));
  const control = new BatchingModeControl();
  control.watch(engine);
  control.choose("sequential"); // it is on its way
  await notify("continuous");
  expect(control.store.getState()).toBe("sequential");
  await notify("sequential");
  await notify("static");
  take();
  await expect.poll(() => control.store.getState()).toBe("static");
});
