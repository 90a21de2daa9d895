import { afterEach, expect, it, vi } from "vitest";

import type { Alert } from "../../../protocol/reports.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { alertWords, BatchAlerts, readThreshold, THRESHOLD_FIELDS } from "./batch-alerts.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

const QUEUE: Alert = {
  status: "raised",
  name: "queue_length",
  value: 128,
  threshold: 100,
  atMs: 5,
  message: "128 wait.",
};
const ITL: Alert = { status: "raised", name: "itl", value: 180.4, threshold: 50, atMs: 6, message: "Slow." };

it("shows what is raised now, and keeps what was resolved", () => {
  const alerts = new BatchAlerts(() => 1000);
  const engine = new FakeEngine();
  alerts.watch(engine);
  engine.notifyAlert(QUEUE);
  engine.notifyAlert(ITL);
  expect(alerts.store.getState()).toEqual({
    raised: [
      { ...ITL, seenAtMs: 1000 },
      { ...QUEUE, seenAtMs: 1000 },
    ],
    resolved: [],
  });
  engine.notifyAlert({ ...QUEUE, status: "resolved", atMs: 9 });
  expect(alerts.store.getState()).toMatchObject({ raised: [{ name: "itl" }], resolved: [{ name: "queue_length" }] });
  const next = new FakeEngine();
  alerts.watch(next);
  engine.notifyAlert(QUEUE); // of the engine before
  expect(alerts.store.getState().raised).toEqual([]);
});

it("keeps the last twenty", () => {
  const alerts = new BatchAlerts();
  const engine = new FakeEngine();
  alerts.watch(engine);
  for (let value = 1; value <= 30; value++) engine.notifyAlert({ ...QUEUE, value, status: "resolved" });
  expect(alerts.store.getState().resolved.map(({ value }) => value)).toEqual(
    Array.from({ length: 20 }, (_, i) => 30 - i),
  );
});

it("gives thresholds to the engine, and to the next one; without any the engine has its own", () => {
  const alerts = new BatchAlerts();
  const [first, second] = [new FakeEngine(), new FakeEngine()];
  alerts.watch(first);
  expect(first.updates).toEqual([]);
  alerts.set("queueLength", 8);
  alerts.set("itlMs", null);
  expect(first.updates.at(-1)).toEqual({ alerts: { queueLength: 8, itlMs: null } });
  alerts.watch(second);
  expect(second.updates).toEqual([{ alerts: { queueLength: 8, itlMs: null } }]);
  alerts.set("itlMs", undefined);
  alerts.set("queueLength", undefined);
  expect(second.updates.at(-1)).toEqual({ alerts: {} });
});

it("a threshold set in one tab leaves those that another has set meanwhile", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
  });
  const [one, other] = [new BatchAlerts(), new BatchAlerts()];
  one.set("queueLength", 8);
  other.set("itlMs", 50);
  expect(other.thresholds.getState()).toEqual({ queueLength: 8, itlMs: 50 });
  expect(new BatchAlerts().thresholds.getState()).toEqual({ queueLength: 8, itlMs: 50 });
});

it("reads what is typed, and says what can be no threshold", () => {
  const read = (index: number, typed: string) => {
    const field = THRESHOLD_FIELDS[index];
    return field && readThreshold(field, typed);
  };
  expect([read(0, "60"), read(1, "8"), read(2, "12.5"), read(3, " ")]).toEqual([0.6, 8, 12.5, undefined]);
  expect([read(0, "101"), read(1, "1.5"), read(2, "-1"), read(3, "many")]).toEqual([null, null, null, null]);
});

it("says an alert in a few words", () => {
  expect(alertWords(QUEUE)).toBe("128 in the queue");
  expect(alertWords(ITL)).toBe("180 ms between tokens (p95)");
  expect(alertWords({ name: "low_occupancy", value: 0.42 })).toBe("42% of slots in use, others wait");
  expect(alertWords({ name: "failure_rate", value: 0.06 })).toBe("6% of the requests failed");
});
