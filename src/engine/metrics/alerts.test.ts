import { describe, expect, it } from "vitest";

import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import type { Alert, StepReport } from "../../protocol/reports.ts";
import { sampleEntry, sampleRequest, sampleStep } from "../../../tests/requests/sample-reports.ts";
import { Alerts } from "./alerts.ts";

const NEVER: ResolvedEngineConfig["alerts"] = { lowOccupancy: null, queueLength: null, itlMs: null, failureRate: null };

function create(thresholds: Partial<ResolvedEngineConfig["alerts"]>): Alerts {
  return new Alerts({ alerts: { ...NEVER, ...thresholds }, maxNumSeqs: 10 });
}

/** Alerts that `count` equal steps raise. */
function steps(alerts: Alerts, count: number, report: Partial<StepReport>): Alert[] {
  return Array.from({ length: count }, () => alerts.observeStep(sampleStep(report))).flat();
}

describe("low_occupancy", () => {
  const LOW = { numRunning: 5, numWaiting: 1, kvBlocksUsed: 30 };
  const OK = { numRunning: 6, numWaiting: 1 };

  it("is raised when slots stay empty while requests wait, once, and again after things were well", () => {
    const alerts = create({ lowOccupancy: 0.6 });
    expect(steps(alerts, 19, LOW)).toEqual([]);
    expect(steps(alerts, 1, LOW)).toMatchObject([{ name: "low_occupancy", value: 0.5, threshold: 0.6 }]);
    expect(steps(alerts, 200, LOW)).toEqual([]);
    steps(alerts, 1, OK);
    expect(steps(alerts, 20, LOW)).toHaveLength(1);
  });

  it("is not raised for a batch that fills up, or when nobody waits", () => {
    const alerts = create({ lowOccupancy: 0.6 });
    for (let round = 0; round < 5; round++) {
      expect(steps(alerts, 19, LOW)).toEqual([]);
      steps(alerts, 1, OK);
    }
    expect(steps(alerts, 100, { ...LOW, numWaiting: 0 })).toEqual([]);
  });

  it("says what would help: memory where that is full, otherwise not", () => {
    const [full] = steps(create({ lowOccupancy: 0.6 }), 20, { ...LOW, kvBlocksUsed: 95 });
    expect(full?.message).toContain("kvCacheBytes");
    const [roomy] = steps(create({ lowOccupancy: 0.6 }), 20, LOW);
    expect(roomy?.message).toMatch(
      /^5 of 10 slots are in use, under 60%, while others wait \(1\)\..*maxNumBatchedTokens/,
    );
  });
});

it("queue_length is raised above its threshold, not at it", () => {
  const alerts = create({ queueLength: 100 });
  expect(steps(alerts, 3, { numWaiting: 100 })).toEqual([]);
  const reported = { name: "queue_length", value: 101, threshold: 100, atMs: 7 };
  expect(steps(alerts, 3, { numWaiting: 101, atMs: 7 })).toMatchObject([reported]);
  steps(alerts, 1, { numWaiting: 100 });
  expect(steps(alerts, 3, { numWaiting: 250 })).toHaveLength(1);
});

it("what waited is resolved when all of it is aborted, and no step follows", () => {
  const alerts = create({ queueLength: 100, lowOccupancy: 0.6, failureRate: 0.1 });
  steps(alerts, 20, { numWaiting: 101, numRunning: 1 });
  const names = alerts.observeRest(7).map(({ name, status, atMs }) => `${name} ${status} ${atMs}`);
  expect(names).toEqual(["low_occupancy resolved 7", "queue_length resolved 7"]);
  expect(alerts.observeRest(8)).toEqual([]);
});

describe("itl", () => {
  /** Steps that end `gapMs` apart, each with a token for "a". */
  function speaker(alerts: Alerts) {
    let atMs = 0;
    alerts.observeRequest(sampleRequest("a", { status: "first-token", firstTokenMs: 0, outputTokens: 1 }));
    return (count: number, gapMs: number) =>
      Array.from({ length: count }, () => {
        atMs += gapMs;
        return alerts.observeStep(sampleStep({ atMs, entries: [sampleEntry("a")] }));
      }).flat();
  }

  it("is raised when more than a twentieth of the last 100 steps' gaps are longer, and says the percentile", () => {
    const speak = speaker(create({ itlMs: 50 }));
    expect(speak(95, 20)).toEqual([]);
    expect(speak(5, 80)).toEqual([]);
    expect(speak(1, 80)).toMatchObject([{ name: "itl", value: 80, threshold: 50 }]);
    expect(speak(50, 80)).toEqual([]);
    expect(speak(100, 20)).toMatchObject([{ name: "itl", status: "resolved", value: 80 }]);
    expect(speak(6, 60)).toHaveLength(1);
  });

  it("ends with the tokens: where nothing runs it is resolved, and what runs next is looked at anew", () => {
    const alerts = create({ itlMs: 50 });
    const speak = speaker(alerts);
    expect(speak(40, 80)).toMatchObject([{ name: "itl", status: "raised" }]);
    expect(alerts.observeRest(7)).toMatchObject([{ name: "itl", status: "resolved", atMs: 7 }]);
    expect(speak(19, 80)).toEqual([]);
    expect(speak(1, 80)).toMatchObject([{ name: "itl", status: "raised" }]);
  });

  it("is not raised where several tokens come together, quickly enough for each", () => {
    const alerts = create({ itlMs: 50 });
    alerts.observeRequest(sampleRequest("a", { status: "first-token", firstTokenMs: 0, outputTokens: 1 }));
    const entries = [sampleEntry("a", { drafted: 3, accepted: 3 })];
    const raised = Array.from({ length: 40 }, (_, i) =>
      alerts.observeStep(sampleStep({ atMs: 100 * (i + 1), entries })),
    );
    expect(raised.flat()).toEqual([]);
  });

  it("by itself is four times the adapter's own step time, which prompts don't change; and at least 50 ms", () => {
    const slow = create({ itlMs: "auto" });
    slow.observeRequest(sampleRequest("a", { status: "first-token", firstTokenMs: 0, outputTokens: 1 }));
    let atMs = 0;
    const speak = (alerts: Alerts, count: number, gapMs: number, promptRows = 0) =>
      Array.from({ length: count }, () => {
        atMs += gapMs;
        return alerts.observeStep(sampleStep({ atMs, stepMs: gapMs, promptRows, entries: [sampleEntry("a")] }));
      }).flat();
    expect(speak(slow, 100, 30)).toEqual([]);
    expect(speak(slow, 40, 119, 64)).toEqual([]);
    expect(speak(slow, 40, 121, 64)).toMatchObject([{ name: "itl", value: 121, threshold: 120 }]);
    const quick = create({ itlMs: "auto" });
    quick.observeRequest(sampleRequest("a", { status: "first-token", firstTokenMs: atMs, outputTokens: 1 }));
    expect(speak(quick, 100, 2)).toEqual([]);
    expect(speak(quick, 40, 49, 64)).toEqual([]);
    expect(speak(quick, 40, 51, 64)).toMatchObject([{ threshold: 50 }]);
  });

  it("waits for twenty steps", () => {
    const speak = speaker(create({ itlMs: 50 }));
    expect(speak(19, 80)).toEqual([]);
    expect(speak(1, 80)).toHaveLength(1);
  });
});

it("failure_rate is raised when more than its share of the last 100 failed, but not of fewer than 20", () => {
  const alerts = create({ failureRate: 0.05 });
  const end = (count: number, failed: boolean) =>
    Array.from({ length: count }, (_, i) => alerts.observeEnd({ failed, atMs: i })).flat();
  expect(end(19, true)).toEqual([]);
  expect(end(1, true)).toMatchObject([{ name: "failure_rate", value: 1, threshold: 0.05 }]);
  expect(end(95, false)).toMatchObject([{ status: "resolved" }]); // 5 of 100 are left: back on the good side
  expect(end(1, true)).toEqual([]);
  expect(end(100, false)).toEqual([]);
  expect(end(5, true)).toEqual([]);
  const [alert] = end(1, true);
  expect(alert?.message).toMatch(/^6% of the last 100 requests failed/);
});

it("with new thresholds resolves what was raised, and starts over", () => {
  const alerts = create({ queueLength: 100 });
  expect(steps(alerts, 1, { numWaiting: 150 })).toHaveLength(1);
  const resolved = alerts.update({ maxNumSeqs: 8, alerts: { ...NEVER, queueLength: 200 } }, 77);
  expect(resolved).toMatchObject([{ name: "queue_length", status: "resolved", value: 150, threshold: 100, atMs: 77 }]);
  expect(steps(alerts, 5, { numWaiting: 150 })).toEqual([]);
  expect(alerts.update({ maxNumSeqs: 8, alerts: { ...NEVER, queueLength: 140 } }, 78)).toEqual([]);
  expect(steps(alerts, 5, { numWaiting: 150 })).toMatchObject([{ status: "raised", threshold: 140 }]);
});

it("says nothing where every threshold is null", () => {
  const alerts = create({});
  const bad = { numRunning: 1, numWaiting: 1000 };
  expect(steps(alerts, 200, bad)).toEqual([]);
  expect(Array.from({ length: 50 }, () => alerts.observeEnd({ failed: true, atMs: 0 })).flat()).toEqual([]);
});
