import { expect, it } from "vitest";

import { readRecording } from "../../client/read-recording.ts";
import { FakeEngine } from "../../testing/app/fake-engine.ts";
import { Batch } from "./batch.ts";
import { BatchMetrics } from "./batch-metrics.ts";

/** An engine that says who listens for the times of its kernels. */
class ListeningEngine extends FakeEngine {
  numListeners = 0;

  override on: FakeEngine["on"] = (event, listener) => {
    const off = super.on(event, listener);
    if (event !== "kernels") return off;
    this.numListeners += 1;
    return () => {
      this.numListeners -= 1;
      return off();
    };
  };
}

it("asks for the times of kernels only on request, of the next engine, too, and where it has a GPU", () => {
  const batch = new Batch(new BatchMetrics(() => 0));
  const isPossible = () => batch.kernelTiming.getState().isPossible;
  expect(isPossible()).toBe(false);
  const first = new ListeningEngine();
  batch.watch(first);
  expect([first.numListeners, isPossible()]).toEqual([0, true]);
  batch.toggleKernelTiming();
  expect(first.numListeners).toBe(1);
  const second = new ListeningEngine({ model: { backend: "cpu" } });
  batch.watch(null);
  batch.watch(second);
  expect([second.numListeners, isPossible()]).toEqual([1, false]);
  batch.toggleKernelTiming();
  expect(second.numListeners).toBe(0);
  expect(readRecording(batch.recording() ?? "").events).toEqual([]);
});
