import { describe, expect, it } from "vitest";

import { readRecording } from "../../../recording/read-recording.ts";
import { recordRun } from "../../../recording/recording.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { requestName } from "../chat/request-name.ts";
import { Player } from "./player.ts";
import { RecordedRun, shownAt, textAt } from "./recorded-run.ts";

/** Two panes; the second one asks after two steps. Each step takes 100 ms. */
function recordedRun(): RecordedRun {
  const engine = new FakeEngine({ answer: () => "one two three four five" });
  const recorder = recordRun(engine);
  let nowMs = 1000;
  const ask = (pane: number, content: string) =>
    engine.chat.completions.create({
      messages: [{ role: "user", content }],
      stream: true,
      request_id: requestName({ pane, turn: 1 }, "x"),
    });
  const step = () => engine.step((nowMs += 100), 100);
  void ask(1, "Count");
  step();
  step();
  void ask(2, "Count again");
  for (let i = 0; i < 6; i++) step();
  return new RecordedRun(readRecording(recorder.stop()));
}

const cells = ({ batch }: Player) =>
  batch.timeline
    .tracksIn(1, 100)
    .map(({ id, firstStep, endStep }) => `${id.requestId.slice(9, 15)} ${firstStep}-${endStep}`);

describe("a recorded run", () => {
  it("has at each place the words that were there after so many steps", () => {
    const run = recordedRun();
    expect(run.steps.length).toBe(7);
    const [first, second] = run.sequences;
    if (!first || !second) throw new Error("there are two");
    expect(textAt(first, 0)).toEqual({ before: "", marked: "", after: "", numTokens: 0 });
    expect(textAt(first, 3)).toEqual({ before: "one two", marked: " three", after: "", numTokens: 3 });
    expect(textAt(first, 6)).toMatchObject({ before: "one two three four five", marked: "" });
    expect(textAt(first, 4, 1)).toEqual({ before: "one", marked: " two", after: " three four", numTokens: 4 });
    expect(first.end).toEqual({ place: 5, reason: "stop" });
    expect(first.requested?.question).toBe("Count");
    expect(second.firstPlace).toBe(2);
    expect(shownAt(run, 1)).toEqual([first]);
    expect(shownAt(run, 2)).toEqual([first, second]);
  });

  it("takes as long as it took, but for rests", () => {
    const run = recordedRun();
    expect(run.playMs).toEqual([0, 100, 200, 300, 400, 500, 600, 700]);
    const { recording } = run;
    const late = recording.events.map((event) =>
      event.type === "step" && event.step > 3 ? { ...event, atMs: event.atMs + 60_000 } : event,
    );
    expect(new RecordedRun({ ...recording, events: late }).playMs).toEqual([0, 100, 200, 300, 1300, 1400, 1500, 1600]);
    expect([-1, 0, 99, 100, 250, 1e9].map((ms) => run.placeAt(ms))).toEqual([0, 0, 0, 1, 2, 7]);
  });
});

describe("a player", () => {
  it("shows the batch as it was at a step, forwards and back", async () => {
    const player = new Player(recordedRun());
    expect(player.batch.timeline.lastStep).toBe(0);
    player.seek(3);
    expect(cells(player)).toEqual(["pane-1 1-null", "pane-2 3-null"]);
    expect(player.batch.metrics.store.getState()).toMatchObject({ running: 2, step: 3 });
    player.seek(7);
    expect(cells(player)).toEqual(["pane-1 1-6", "pane-2 3-8"]);
    expect(player.batch.metrics.store.getState()).toMatchObject({ running: 0, step: 7 });
    player.seek(2);
    expect(cells(player)).toEqual(["pane-1 1-null"]);
    expect(player.batch.metrics.store.getState()).toMatchObject({ running: 1, step: 2 });
    player.seek(99);
    expect(player.store.getState().place).toBe(7);
    player.seek(-99);
    expect(player.store.getState().place).toBe(0);
  });

  it("shows the same whichever way it came to a step", () => {
    const run = recordedRun();
    const [there, back] = [new Player(run), new Player(run)];
    for (let place = 1; place <= 5; place++) there.seek(place);
    back.seek(7);
    back.seek(5);
    expect(cells(back)).toEqual(cells(there));
    expect(back.batch.charts.store.getState()).toEqual(there.batch.charts.store.getState());
    expect(back.batch.metrics.store.getState()).toEqual(there.batch.metrics.store.getState());
  });

  it("shows in the charts every step so far: also the first ones, and those since the last sample", () => {
    const player = new Player(recordedRun());
    const samples = (place: number) => {
      player.seek(place);
      return player.batch.charts.store.getState().samples.map(({ sequences, stepMs }) => [sequences, stepMs]);
    };
    expect(samples(0)).toEqual([]);
    expect(samples(1)).toEqual([[1, 100]]);
    expect(samples(3)).toEqual([[4 / 3, 100]]);
    // Samples are taken each 250 ms from the first step on.
    expect(samples(4)).toEqual([
      [4 / 3, 100],
      [2, 100],
    ]);
    expect(samples(7)).toEqual([
      [4 / 3, 100],
      [2, 100],
      [1, 100],
    ]);
    expect(samples(2)).toEqual([[1, 100]]);
  });

  it("brings the charts forward with their samples while it plays, and with every step where it pauses", () => {
    const player = new Player(recordedRun());
    const { charts } = player.batch;
    let numChanges = 0;
    charts.store.subscribe(() => (numChanges += 1));
    const shown = () => charts.store.getState().samples.length;
    player.setSpeed(1);
    player.togglePlay(); // shows the first step
    numChanges = 0;
    for (let i = 1; i < 6; i++) player.advance(100);
    expect(player.store.getState().place).toBe(6);
    expect([numChanges, shown()]).toEqual([2, 2]); // one for each 250 ms
    player.togglePlay();
    expect([numChanges, shown()]).toEqual([3, 3]);
    player.togglePlay();
    player.advance(100);
    expect(player.store.getState()).toMatchObject({ place: 7, isPlaying: false });
    expect([numChanges, shown()]).toEqual([4, 3]);
  });

  it("has the cache's map as it was", async () => {
    const player = new Player(recordedRun());
    const off = player.batch.cacheMap.watchWhileVisible();
    player.seek(3);
    await expect.poll(() => player.batch.cacheMap.store.getState()?.sequences).toHaveLength(2);
    expect([...(player.batch.cacheMap.store.getState()?.owners ?? [])].filter((owner) => owner >= 0)).toEqual([0, 1]);
    off();
  });

  it("plays in the run's own time, at a speed, and pauses at the end", () => {
    const player = new Player(recordedRun());
    expect(player.store.getState().speed).toBe(0.05); // 700 ms of steps can be watched for 14 s
    player.setSpeed(1);
    player.advance(1000);
    expect(player.store.getState().place).toBe(0); // it is not playing
    player.togglePlay();
    expect(player.store.getState()).toMatchObject({ place: 1, isPlaying: true }); // the first step is not waited for
    player.advance(50);
    expect(player.store.getState().place).toBe(1);
    player.advance(50);
    expect(player.store.getState().place).toBe(2);
    player.setSpeed(2);
    player.advance(100);
    expect(player.store.getState()).toMatchObject({ place: 4, isPlaying: true });
    player.advance(1000);
    expect(player.store.getState()).toMatchObject({ place: 7, isPlaying: false });
    player.togglePlay();
    expect(player.store.getState()).toMatchObject({ place: 1, isPlaying: true });
    player.seek(3);
    expect(player.store.getState().isPlaying).toBe(false);
  });
});
