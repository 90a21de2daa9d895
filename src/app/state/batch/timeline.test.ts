import { beforeEach, describe, expect, it } from "vitest";
import type { StepReport } from "../../../protocol/reports.ts";
import { sampleEntry, sampleRequest, sampleStep } from "../../../../tests/requests/sample-reports.ts";
import { requestName } from "../chat/request-name.ts";
import { TimelineRows, type TimelineRow } from "./timeline-rows.ts";
import { Timeline, TIMELINE_STEPS, type Cell, type Track } from "./timeline.ts";

const LETTERS: Record<Cell["kind"], string> = {
  prompt: "p",
  decode: "d",
  drafted: "s",
  waiting: "w",
  preempted: "x",
  finished: "f",
};

let timeline: Timeline;
beforeEach(() => {
  timeline = new Timeline();
});

const add = (step: number, changes: Partial<StepReport>) => timeline.addStep(sampleStep({ step, ...changes }));
const prompt = (id: string, rows = 8, cachedTokens = 0) =>
  sampleEntry(id, { start: cachedTokens, rows, promptRows: rows, cachedTokens });

/** A letter a cell, a dot where there is none. */
const draw = (track: Track, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => LETTERS[track.cellAt(from + i)?.kind as Cell["kind"]] ?? ".").join(
    "",
  );
const drawAll = (from: number, to: number) =>
  Object.fromEntries(timeline.tracksIn(from, to).map((track) => [track.id.requestId, draw(track, from, to)]));

describe("the timeline", () => {
  it("tells drafts from a prompt's rows, with how many of them were taken", () => {
    add(1, { entries: [prompt("a")] });
    add(2, { entries: [sampleEntry("a", { rows: 5, drafted: 4, accepted: 2 })] });
    expect(drawAll(1, 2)).toEqual({ a: "ps" });
    expect(timeline.tracksIn(1, 2)[0]?.cellAt(2)).toEqual({ kind: "drafted", start: 8, drafted: 4, accepted: 2 });
  });

  it("tells a prompt's chunks, decoding, waiting, a preemption and the end", () => {
    add(1, { entries: [prompt("a", 16)], waitingIds: ["b"] });
    add(2, { entries: [prompt("a", 4), prompt("b")] });
    add(3, { entries: [sampleEntry("a"), sampleEntry("b")] });
    add(4, { entries: [sampleEntry("a")], preempted: [{ requestId: "b", index: 0 }], waitingIds: ["b"] });
    add(5, { entries: [sampleEntry("a", { finishReason: "stop" })], waitingIds: ["b"] });
    // Recomputed: its prompt and its output, part of which was still in the cache.
    add(6, { entries: [sampleEntry("b", { rows: 2, start: 8, cachedTokens: 8 })] });
    add(7, { entries: [sampleEntry("b", { finishReason: "length" })] });
    expect(drawAll(1, 8)).toEqual({ a: "ppdddf..", b: "wpdxwpdf" });
    const [a, b] = timeline.tracksIn(1, 8);
    expect(a!.cellAt(6)).toEqual({ kind: "finished", reason: "stop" });
    expect(b!.cellAt(6)).toEqual({ kind: "prompt", rows: 2, cachedTokens: 8, start: 8 });
  });

  it("knows which tokens a step made, and which step made a token", () => {
    add(1, { entries: [sampleEntry("a", { rows: 8, promptRows: 8, sampled: false })] });
    add(2, { entries: [prompt("a", 4)] });
    add(3, { entries: [sampleEntry("b")] });
    add(4, { entries: [sampleEntry("a", { rows: 5, drafted: 4, accepted: 2 })] });
    // Preempted, and computed again with its output.
    add(5, { preempted: [{ requestId: "a", index: 0 }], waitingIds: ["a"] });
    add(6, { entries: [sampleEntry("a", { rows: 16 })] });
    const a = timeline.findTrack(({ requestId }) => requestId === "a")!;
    expect([1, 2, 3, 4, 5, 6, 7].map((step) => a.outputsAt(step))).toEqual([
      null,
      { from: 0, to: 1 },
      null,
      { from: 1, to: 4 },
      null,
      { from: 4, to: 5 },
      null,
    ]);
    expect([0, 1, 3, 4, 5].map((output) => a.stepOf(output))).toEqual([2, 4, 4, 6, null]);
    expect(timeline.findTrack(() => false)).toBeNull();
    expect(timeline.rowsOf(4)).toMatchObject({ stepMs: 10 });
  });

  it("still knows them when the first steps are forgotten", () => {
    const last = 3 * TIMELINE_STEPS;
    for (let step = 1; step <= last; step++) add(step, { entries: [sampleEntry("a")] });
    const [a] = timeline.tracksIn(last, last);
    expect(a!.stepOf(last - 10)).toBe(last - 9);
    expect(a!.outputsAt(a!.firstStep)).toEqual({ from: a!.firstStep - 1, to: a!.firstStep });
    expect(a!.stepOf(5)).toBeNull();
    expect(timeline.firstStep).toBe(last - TIMELINE_STEPS + 1);
  });

  it("leaves a step empty in which a sequence that runs had no rows", () => {
    add(1, { entries: [prompt("a")] });
    add(2, { entries: [prompt("b")] });
    add(3, { entries: [sampleEntry("a")] });
    expect(drawAll(1, 3)).toEqual({ a: "p.d", b: ".p." });
  });

  it("ends what is aborted between two steps, and a step that was under way brings it nothing more", () => {
    add(1, { entries: [prompt("a")], waitingIds: ["b"] });
    timeline.addRequest(sampleRequest("a", { status: "finished", finishReason: "abort" }));
    timeline.addRequest(sampleRequest("b", { status: "finished", finishReason: "abort" }));
    add(2, { entries: [sampleEntry("a", { sampled: false })] });
    expect(drawAll(1, 3)).toEqual({ a: "pf.", b: "wf." });
  });

  it("tells a request's choices apart", () => {
    add(1, { entries: [prompt("a")], waitingIds: ["a"] });
    add(2, { entries: [sampleEntry("a"), { ...prompt("a"), index: 1 }] });
    expect(timeline.tracksIn(1, 2).map((track) => [track.id.index, draw(track, 1, 2)])).toEqual([
      [0, "pd"],
      [1, ".p"],
    ]);
  });

  it("says what each step computed in all, and shows only who can be seen", () => {
    add(1, { entries: [prompt("a", 16)] });
    add(2, { entries: [sampleEntry("a", { finishReason: "stop" }), prompt("b")] });
    expect([timeline.rowsOf(1), timeline.rowsOf(2), timeline.rowsOf(3)]).toEqual([
      { step: 1, rows: 16, promptRows: 16, stepMs: 10 },
      { step: 2, rows: 9, promptRows: 8, stepMs: 10 },
      undefined,
    ]);
    expect(timeline.tracksIn(3, 3).map(({ id }) => id.requestId)).toEqual(["a", "b"]);
    expect(timeline.tracksIn(4, 9).map(({ id }) => id.requestId)).toEqual(["b"]);
  });

  it("forgets what was long ago, however long a sequence lasts", () => {
    add(1, { entries: [prompt("gone", 8)] });
    add(2, { entries: [sampleEntry("gone", { finishReason: "stop" }), prompt("stays")] });
    const last = 4 * TIMELINE_STEPS;
    for (let step = 3; step <= last; step++) add(step, { entries: [sampleEntry("stays")] });
    expect(timeline.tracksIn(0, Infinity).map(({ id }) => id.requestId)).toEqual(["stays"]);
    expect(timeline.tracksIn(0, Infinity)[0]!.firstStep).toBeGreaterThan(last - 2 * TIMELINE_STEPS - 1);
    expect([timeline.rowsOf(last - TIMELINE_STEPS), timeline.rowsOf(last - 5)?.step]).toEqual([undefined, last - 5]);
  });

  it("tells its listeners, and is empty after clear", () => {
    let reported = 0;
    const off = timeline.subscribe(() => (reported += 1));
    add(1, { entries: [prompt("a")] });
    timeline.clear();
    off();
    add(1, { entries: [prompt("a")] });
    expect(reported).toBe(2);
    expect(drawAll(1, 1)).toEqual({ a: "p" });
  });
});

describe("the timeline's rows", () => {
  const names = (rows: readonly TimelineRow[]) =>
    rows.map((row) => row.map((track) => track.id.requestId).join("+") || "-").join("");

  it("are slots: kept until the last cell has left, then taken by the next", () => {
    const rows = new TimelineRows();
    for (const id of ["a", "b", "c"]) add(1, { entries: [prompt(id)] });
    expect(names(rows.arrange(timeline.tracksIn(1, 4)))).toBe("abc");
    add(2, { entries: ["a", "b"].map((id) => sampleEntry(id, { finishReason: "stop" })) });
    add(3, { entries: [prompt("d")] });
    expect(names(rows.arrange(timeline.tracksIn(1, 4)))).toBe("abcd");
    expect(names(rows.arrange(timeline.tracksIn(4, 7)))).toBe("--cd");
    add(4, { entries: [prompt("e")] });
    expect(names(rows.arrange(timeline.tracksIn(4, 7)))).toBe("e-cd");
    timeline.addRequest(sampleRequest("d", { status: "finished", finishReason: "abort" }));
    expect(names(rows.arrange(timeline.tracksIn(9, 12)))).toBe("e-c");
  });

  it("stand in the order in which they began when the view is widened", () => {
    const rows = new TimelineRows();
    for (const [step, id] of ["a", "b", "c"].entries()) {
      add(2 * step + 1, { entries: [prompt(id)] });
      add(2 * step + 2, { entries: [sampleEntry(id, { finishReason: "stop" })] });
    }
    expect(names(rows.arrange(timeline.tracksIn(6, 8)))).toBe("c");
    expect(names(rows.arrange(timeline.tracksIn(1, 8)))).toBe("abc");
  });

  it("are the panes': a question goes on behind the last one's end, beside it where that is still open", () => {
    const rows = new TimelineRows();
    const turn = (pane: number, number: number) => requestName({ pane, turn: number }, "x");
    const shown = () =>
      rows.arrange(timeline.tracksIn(1, 9)).map((row) => row.map(({ id }) => id.requestId.slice(0, -2)));
    add(1, { entries: [prompt(turn(1, 1)), prompt(turn(2, 1))] });
    add(2, { entries: [sampleEntry(turn(1, 1), { finishReason: "stop" }), sampleEntry(turn(2, 1))] });
    add(3, { entries: [prompt(turn(1, 2)), prompt(turn(2, 2))] });
    expect(shown()).toEqual([["pane-1-turn-1", "pane-1-turn-2"], ["pane-2-turn-1"], ["pane-2-turn-2"]]);
    // What was out of view comes back, and all stand as they began.
    rows.arrange(timeline.tracksIn(4, 9));
    expect(shown()).toEqual([["pane-1-turn-1", "pane-1-turn-2"], ["pane-2-turn-1"], ["pane-2-turn-2"]]);
  });
});
