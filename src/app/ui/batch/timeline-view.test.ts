import { beforeEach, expect, it } from "vitest";
import { Dock } from "../../state/batch/dock.ts";
import { Pointing } from "../../state/batch/pointing.ts";
import { Timeline } from "../../state/batch/timeline.ts";
import { sampleEntry, sampleStep } from "../../../../tests/requests/sample-reports.ts";
import { TimelineView } from "./timeline-view.ts";

let timeline: Timeline;
let dock: Dock;
let pointing: Pointing;
let view: TimelineView;
beforeEach(() => {
  timeline = new Timeline();
  [dock, pointing] = [new Dock(), new Pointing()];
  view = new TimelineView({ timeline, dock, pointing });
  run(1, 20);
});

function run(from: number, to: number): void {
  for (let step = from; step <= to; step++) {
    timeline.addStep(sampleStep({ step, entries: [sampleEntry("a", { start: step }), sampleEntry("b")] }));
  }
}
/** Brings the view up to date for this many columns. */
const draw = (columns = 10) => view.update(columns * dock.store.getState().stepPx, () => null);
const range = () => {
  const { fromStep, toStep } = draw();
  return [fromStep, toStep];
};
const move = (columns: number, rows: number) => view.placeCursor(view.placeFrom(columns, rows));
const cursor = () => view.store.getState().cursor;
const isHeld = () => dock.store.getState().isPaused;
const pause = () => {
  dock.pause(true);
  draw();
};
/** By columns. */
const pan = (columns: number) => view.pan(columns * dock.store.getState().stepPx);

it("follows the newest step, and stands still while it is held", () => {
  expect(range()).toEqual([12, 21]);
  pause();
  run(21, 30);
  expect(range()).toEqual([12, 21]);
  dock.pause(false);
  expect(range()).toEqual([22, 31]);
});

it("has a cursor that takes the window along, and says what is under it", () => {
  draw();
  move(-1, 0);
  expect(cursor()).toEqual({ step: 21, row: 0 });
  move(-1, 0);
  expect(view.trackAt(cursor()!)?.cellAt(21 - 1)).toEqual({ kind: "decode", start: 20 });
  move(-100, 5);
  expect(cursor()).toEqual({ step: 1, row: 1 });
  expect(range()).toEqual([1, 10]);
  expect(isHeld()).toBe(true);
  expect(view.trackAt(cursor()!)?.id.requestId).toBe("b");
  move(Infinity, -5);
  expect(cursor()).toEqual({ step: 21, row: 0 });
  expect(range()).toEqual([12, 21]);
  expect(isHeld()).toBe(false);
});

it("comes in at the newest step, even one that has not been drawn yet", () => {
  draw();
  run(21, 22);
  move(-1, 0);
  expect(cursor()).toEqual({ step: 23, row: 0 });
  view.placeCursor(null);
  pause();
  run(23, 24);
  move(-1, 0);
  expect(cursor()).toEqual({ step: 23, row: 0 });
});

it("takes a window that is held along, as far as anything is remembered", () => {
  pause();
  draw();
  view.placeCursor({ step: 12, row: 0 });
  move(-3, 0);
  expect(range()).toEqual([9, 18]);
  move(-100, 0);
  expect(cursor()!.step).toBe(1);
  move(100, 0);
  expect(range()).toEqual([12, 21]);
});

it("says of a line with several sequences which one a step is of", () => {
  const turn = (number: number) => `pane-7-turn-${number}-x`;
  timeline.addStep(sampleStep({ step: 21, entries: [sampleEntry(turn(1), { finishReason: "stop" })] }));
  for (const step of [22, 23]) timeline.addStep(sampleStep({ step, entries: [sampleEntry(turn(2))] }));
  draw(20);
  const at = (step: number) => view.trackAt({ row: 2, step })?.id.requestId;
  expect([at(10), at(21), at(22), at(24)]).toEqual([turn(1), turn(1), turn(2), turn(2)]);
});

it("is panned back through time, and follows the engine again at the newest step", () => {
  draw();
  pan(-4);
  expect(range()).toEqual([8, 17]);
  run(21, 25);
  expect(range()).toEqual([8, 17]);
  pan(-100);
  expect(range()).toEqual([1, 10]);
  view.panTo(Infinity);
  expect(isHeld()).toBe(false);
  run(26, 30);
  expect(range()).toEqual([22, 31]);
});

it("has nowhere to go while all steps fit", () => {
  draw(40);
  pan(-5);
  expect(isHeld()).toBe(false);
});

it("shows a step that somebody points at elsewhere, and is back where it was afterwards", () => {
  draw();
  const point = (step: number) => pointing.point({ requestName: "a", index: 0, from: step - 1, to: step, by: "words" });
  point(3);
  expect(range()).toEqual([1, 10]);
  expect(view.store.getState()).toMatchObject({
    marked: { row: 0, fromStep: 3, toStep: 3 },
    card: { at: { left: 18 } },
  });
  pointing.leave("words");
  expect(range()).toEqual([12, 21]);
  point(15);
  expect(range()).toEqual([12, 21]);
});

it("moves as often as it is asked to between two drawings", () => {
  draw();
  for (let keys = 0; keys < 2; keys++) view.panTo(view.lastShown - 3);
  expect(range()).toEqual([6, 15]);
});
