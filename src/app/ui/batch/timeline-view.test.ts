import { beforeEach, expect, it } from "vitest";
import { Timeline } from "../../state/batch/timeline.ts";
import { sampleEntry, sampleStep } from "../../../../tests/requests/sample-reports.ts";
import { TimelineView } from "./timeline-view.ts";

let timeline: Timeline;
let view: TimelineView;
beforeEach(() => {
  timeline = new Timeline();
  view = new TimelineView(timeline);
  run(1, 20);
});

function run(from: number, to: number): void {
  for (let step = from; step <= to; step++) {
    timeline.addStep(sampleStep({ step, entries: [sampleEntry("a", { start: step }), sampleEntry("b")] }));
  }
}
const range = () => {
  const { fromStep, toStep } = view.refresh(10);
  return [fromStep, toStep];
};

it("follows the newest step, and stands still while it is held", () => {
  expect(range()).toEqual([12, 21]);
  view.hold(true);
  run(21, 30);
  expect(range()).toEqual([12, 21]);
  view.hold(false);
  expect(range()).toEqual([22, 31]);
});

it("has a cursor that takes the window along, and says what is under it", () => {
  view.refresh(10);
  view.moveCursor(-1, 0);
  expect(view.cursor).toEqual({ step: 21, row: 0 });
  view.moveCursor(-1, 0);
  expect(view.cellAt(view.cursor!)).toEqual({ kind: "decode", start: 20 });
  view.moveCursor(-100, 5);
  expect(view.cursor).toEqual({ step: 1, row: 1 });
  expect(range()).toEqual([1, 10]);
  expect(view.isHeld).toBe(true);
  expect(view.trackAt(view.cursor!)?.id.requestId).toBe("b");
  view.moveCursor(Infinity, -5);
  expect(view.cursor).toEqual({ step: 21, row: 0 });
  expect(range()).toEqual([12, 21]);
  expect(view.isHeld).toBe(false);
});

it("comes in at the newest step, even one that has not been drawn yet", () => {
  view.refresh(10);
  run(21, 22);
  view.moveCursor(-1, 0);
  expect(view.cursor).toEqual({ step: 23, row: 0 });
  view.placeCursor(null);
  view.hold(true);
  run(23, 24);
  view.moveCursor(-1, 0);
  expect(view.cursor).toEqual({ step: 23, row: 0 });
});

it("takes a window that is held along, as far as anything is remembered", () => {
  view.hold(true);
  view.refresh(10);
  view.placeCursor({ step: 12, row: 0 });
  view.moveCursor(-3, 0);
  expect(range()).toEqual([9, 18]);
  view.moveCursor(-100, 0);
  expect(view.cursor!.step).toBe(1);
  view.moveCursor(100, 0);
  expect(range()).toEqual([12, 21]);
});

it("says of a line with several sequences which one a step is of", () => {
  const turn = (number: number) => `pane-7-turn-${number}-x`;
  timeline.addStep(sampleStep({ step: 21, entries: [sampleEntry(turn(1), { finishReason: "stop" })] }));
  for (const step of [22, 23]) timeline.addStep(sampleStep({ step, entries: [sampleEntry(turn(2))] }));
  view.refresh(20);
  const at = (step: number) => view.trackAt({ row: 2, step })?.id.requestId;
  expect([at(10), at(21), at(22), at(24)]).toEqual([turn(1), turn(1), turn(2), turn(2)]);
});

it("is panned back through time, and follows the engine again at the newest step", () => {
  view.refresh(10);
  view.pan(-4);
  expect(range()).toEqual([8, 17]);
  run(21, 25);
  expect(range()).toEqual([8, 17]);
  view.pan(-100);
  expect(range()).toEqual([1, 10]);
  view.panTo(Infinity);
  expect(view.isHeld).toBe(false);
  run(26, 30);
  expect(range()).toEqual([22, 31]);
});

it("has nowhere to go while all steps fit", () => {
  view.refresh(40);
  view.pan(-5);
  expect(view.isHeld).toBe(false);
});

it("shows a step that somebody points at elsewhere, and is back where it was afterwards", () => {
  view.refresh(10);
  view.reveal(3);
  expect(range()).toEqual([1, 10]);
  const [a] = timeline.tracksIn(3, 3);
  expect(view.rowOf(a!)).toBe(0);
  view.reveal(null);
  expect(range()).toEqual([12, 21]);
  view.reveal(15);
  expect(range()).toEqual([12, 21]);
});
