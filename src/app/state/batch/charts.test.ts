import { beforeEach, expect, it } from "vitest";
import { sampleEntry, sampleRequest, sampleStep } from "../../../../tests/requests/sample-reports.ts";
import { Charts } from "./charts.ts";
import { requestName } from "../chat/request-name.ts";

const TICK_MS = 250;
const requestOf = (pane: number, turn = 1) => `chatcmpl-${requestName({ pane, turn }, "x")}`;

let charts: Charts;
beforeEach(() => {
  charts = new Charts(TICK_MS);
});
const step = (atMs: number, ids: readonly string[], changes = {}) =>
  charts.addStep(sampleStep({ atMs, stepMs: 50, entries: ids.map((id) => sampleEntry(id)), ...changes }));
const newest = () => charts.store.getState().samples.at(-1);

it("samples the rate of each pane, and what no pane asked for as pane 0", () => {
  for (let atMs = 50; atMs <= 2000; atMs += 50) step(atMs, [requestOf(1), requestOf(1, 2), requestOf(2), "bench"]);
  charts.tick(2000, 3, 0);
  expect(newest()).toMatchObject({ tokensPerSecond: 80, byPane: { 1: 40, 2: 20, 0: 20 }, waiting: 3 });
});

it("counts accepted drafts: tokens of one step share the time since the step before", () => {
  for (let atMs = 100; atMs <= 1000; atMs += 100) {
    charts.addStep(
      sampleStep({ atMs, stepMs: 100, entries: [sampleEntry(requestOf(1), { drafted: 4, accepted: 3 })] }),
    );
  }
  charts.tick(1000, 0, 0);
  expect(newest()).toMatchObject({ tokensPerSecond: 40, byPane: { 1: 40 } });
  expect(charts.store.getState().itl).toEqual({ p50: 25, p95: 25, p99: 25 });
});

it("weights the time between tokens by tokens", () => {
  const entry = (accepted: number) => [sampleEntry("a", { drafted: 4, accepted })];
  charts.addStep(sampleStep({ atMs: 100, entries: entry(0) }));
  charts.addStep(sampleStep({ atMs: 140, entries: entry(3) }));
  charts.addStep(sampleStep({ atMs: 180, entries: entry(0) }));
  charts.tick(200, 0, 0);
  // Four tokens of 10 ms and one of 40 ms.
  expect(charts.store.getState().itl).toEqual({ p50: 10, p95: 40, p99: 40 });
});

it("has no peak at the beginning: few tokens in little time are no high rate", () => {
  step(50, [requestOf(1), requestOf(2)]);
  charts.tick(51, 0, 0);
  expect(newest()).toMatchObject({ tokensPerSecond: 2 });
});

it("averages the steps since the tick before, and has none where there was no step", () => {
  step(50, ["a"], { cpuMs: 1, gpuMs: 10, kvBlocksUsed: 3, kvBlocksCached: 2 });
  step(100, ["a", "b"], { cpuMs: 2, gpuMs: null, kvBlocksUsed: 4, kvBlocksCached: 2 });
  charts.tick(250, 0, 0);
  expect(newest()).toMatchObject({ sequences: 1.5, cpuMs: 1.5, gpuMs: 10, stepMs: 50, blocksUsed: 4, blocksCached: 2 });
  charts.tick(500, 0, 0);
  expect(newest()).toMatchObject({ sequences: 0, cpuMs: null, gpuMs: null, stepMs: null, blocksUsed: 4 });
});

it("says when there is nothing more to see, and brings the samples that were left out since", () => {
  step(50, ["a"]);
  expect(charts.tick(250, 0, 1)).toBe(true);
  expect(charts.tick(500, 0, 0)).toBe(true); // its rate is of the last second
  expect(charts.tick(1500, 0, 0)).toBe(false);
  step(3000, ["a"]);
  charts.tick(3000, 2, 1);
  const { samples } = charts.store.getState();
  expect(samples).toHaveLength(12);
  expect(samples.map(({ waiting }) => waiting)).toEqual([...Array.from({ length: 11 }, () => 0), 2]);
  expect(samples.slice(-6, -1).every(({ tokensPerSecond }) => tokensPerSecond === 0)).toBe(true);
});

it("takes no sample before the first step", () => {
  charts.tick(250, 0, 0);
  expect(charts.store.getState().samples).toEqual([]);
});

it("keeps a minute of samples", () => {
  for (let i = 1; i <= 1000; i++) {
    step(i * TICK_MS, ["a"]);
    charts.tick(i * TICK_MS, i, 0);
  }
  const { samples } = charts.store.getState();
  expect(samples).toHaveLength(240);
  expect(samples.map(({ waiting }) => waiting)).toEqual(Array.from({ length: 240 }, (_, i) => 761 + i));
});

it("tells TTFT by requests, and ITL by the tokens of one sequence", () => {
  step(100, ["a", "b"]);
  charts.addRequest(sampleRequest("a", { status: "first-token", arrivalMs: 20, firstTokenMs: 100 }));
  step(130, ["a"]);
  step(150, ["a"]);
  // A sequence that has ended and one of the same name have nothing between them.
  charts.addRequest(sampleRequest("b", { status: "finished", finishReason: "abort" }));
  step(190, ["b"]);
  charts.tick(200, 0, 0);
  expect(charts.store.getState()).toMatchObject({
    ttft: { p50: 80, p95: 80, p99: 80 },
    itl: { p50: 20, p95: 30, p99: 30 },
  });
  charts.clear();
  expect(charts.store.getState()).toEqual({ samples: [], ttft: null, itl: null });
});

it("in a long step shows the sequences that run, and 0 only where nothing does", () => {
  step(50, ["a", "b"]);
  charts.tick(250, 0, 2);
  charts.tick(500, 0, 2);
  expect(newest()).toMatchObject({ sequences: 2, stepMs: null });
  charts.tick(750, 0, 0);
  expect(newest()).toMatchObject({ sequences: 0 });
});
