import { expect, it } from "vitest";
import { sampleEntry, sampleStep } from "../../../../tests/requests/sample-reports.ts";
import type { Demo, DemoState } from "./demo.ts";
import { zoomWithDemo } from "./demo-zoom.ts";
import { Dock } from "../batch/dock.ts";
import { createStore } from "../store.ts";
import { Timeline } from "../batch/timeline.ts";

it("shows all steps of the demo when it is over, and what was seen before when it is closed", () => {
  const phases = createStore<Pick<DemoState, "phase">>(() => ({ phase: "closed" }));
  const timeline = new Timeline();
  const dock = new Dock();
  const run = (from: number, to: number) => {
    for (let step = from; step <= to; step++) timeline.addStep(sampleStep({ step, entries: [sampleEntry("a")] }));
  };
  zoomWithDemo({ store: phases } as unknown as Demo, timeline, dock);
  dock.zoomTo(13);
  run(1, 50);
  phases.setState({ phase: "running" });
  run(51, 350);
  expect(dock.store.getState()).toMatchObject({ stepPx: 13, fitSteps: null });
  phases.setState({ phase: "done" });
  expect(dock.store.getState().fitSteps).toBe(300);
  dock.settleZoom(600);
  expect(dock.store.getState().stepPx).toBe(2);
  dock.togglePause();
  phases.setState({ phase: "running" }); // again
  expect(dock.store.getState().isPaused).toBe(false);
  expect(dock.store.getState().stepPx).toBe(13);
  phases.setState({ phase: "closed" });
  expect(dock.store.getState()).toMatchObject({ stepPx: 13, fitSteps: null });
});
