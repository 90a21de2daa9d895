import { expect, it } from "vitest";

import { readRecording } from "../../../recording/read-recording.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { Batch } from "./batch.ts";

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

it("asks for the times of kernels only on request, of the next engine, too, and where it can time them", () => {
  const batch = new Batch(() => 0);
  expect([batch.isTimingKernels, batch.timingObstacle]).toEqual([false, "no engine runs"]);
  const engines = [
    new ListeningEngine(),
    new ListeningEngine({ model: { backend: "cpu", canTimeKernels: false } }),
    new ListeningEngine({ model: { canTimeKernels: false } }),
    new ListeningEngine(),
  ];
  const [first, , , last] = engines;
  const seen = engines.map((engine) => {
    batch.watch(null);
    batch.watch(engine);
    const { timingObstacle } = batch;
    const before = engine.numListeners;
    if (engine === first) batch.toggleKernelTiming();
    return [before, engine.numListeners, batch.isTimingKernels, timingObstacle];
  });
  expect(seen).toEqual([
    [0, 1, true, null],
    [0, 0, false, "only on a GPU"],
    [0, 0, false, "this GPU has no timestamps"],
    [1, 1, true, null],
  ]);
  batch.toggleKernelTiming();
  expect(last?.numListeners).toBe(0);
  expect(readRecording(batch.recording() ?? "").events).toEqual([]);
});

it("shows the last state of a batch at once, however short it was", async () => {
  const batch = new Batch(() => 0);
  const engine = new FakeEngine({ answer: () => "One two three" });
  batch.watch(engine);
  const ask = (content: string) =>
    engine.chat.completions.create({ messages: [{ role: "user", content }], stream: true });
  await Promise.all(["How?", "Why?"].map(ask));
  for (let step = 1; step <= 3; step++) engine.step();
  expect(batch.metrics.store.getState()).toMatchObject({ running: 0, peakSequences: 2, kvUse: 0, step: 3 });
});
