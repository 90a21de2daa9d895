import { expect, it, vi } from "vitest";
import { FakeEngine } from "../../testing/app/fake-engine.ts";
import { BatchingModeControl } from "./batching-mode.ts";

it("tells the engine at once, and the next engine when it is there", () => {
  const [first, second] = [new FakeEngine(), new FakeEngine()];
  const [told, toldNext] = [first, second].map((engine) => vi.spyOn(engine, "setBatchingMode"));
  const control = new BatchingModeControl();
  control.watch(first);
  expect(told).not.toHaveBeenCalled();
  control.choose("static");
  expect(told).toHaveBeenLastCalledWith("static");
  control.watch(null);
  control.choose("sequential");
  expect(control.store.getState()).toBe("sequential");
  control.watch(second);
  expect(toldNext).toHaveBeenCalledExactlyOnceWith("sequential");
});
