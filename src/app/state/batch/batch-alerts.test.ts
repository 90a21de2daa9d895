import { expect, it } from "vitest";

import type { Alert } from "../../../protocol/reports.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { alertWords, BatchAlerts } from "./batch-alerts.ts";

const QUEUE: Alert = {
  status: "raised",
  name: "queue_length",
  value: 128,
  threshold: 100,
  atMs: 5,
  message: "128 wait.",
};
const ITL: Alert = { status: "raised", name: "itl", value: 180.4, threshold: 50, atMs: 6, message: "Slow." };

it("has what is raised now, the newest first", () => {
  const alerts = new BatchAlerts();
  const engine = new FakeEngine();
  alerts.watch(engine);
  engine.notifyAlert(QUEUE);
  engine.notifyAlert(ITL);
  expect(alerts.store.getState()).toEqual([ITL, QUEUE]);
  engine.notifyAlert({ ...QUEUE, value: 200 });
  expect(alerts.store.getState().map(({ value }) => value)).toEqual([200, 180.4]);
  engine.notifyAlert({ ...QUEUE, status: "resolved", atMs: 9 });
  expect(alerts.store.getState()).toEqual([ITL]);
  alerts.watch(new FakeEngine());
  engine.notifyAlert(QUEUE); // of the engine before
  expect(alerts.store.getState()).toEqual([]);
});

it("says an alert in a few words", () => {
  expect(alertWords(QUEUE)).toBe("128 in the queue");
  expect(alertWords(ITL)).toBe("180 ms between tokens (p95)");
  expect(alertWords({ name: "low_occupancy", value: 0.42 })).toBe("42% of slots in use, others wait");
  expect(alertWords({ name: "failure_rate", value: 0.06 })).toBe("6% of the last requests failed (100 at most)");
});
