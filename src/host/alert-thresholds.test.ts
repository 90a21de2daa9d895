import { expect, test } from "vitest";

import type { Alert } from "../protocol/reports.ts";
import { openFakeModel } from "../../tests/fakes/fake-model.ts";

test("thresholds of alerts change while the engine runs, and refusals count as failures", async () => {
  const { engine } = await openFakeModel({ maxNumSeqs: 1, numGpuBlocks: 64 });
  const alerts: Alert[] = [];
  engine.on("alert", (alert) => alerts.push(alert));
  const ask = (prompt: string | string[]) =>
    engine.completions.create({ prompt, max_tokens: 4, temperature: 0, ignore_eos: true });
  await ask(["A", "B", "C"]);
  expect(alerts).toEqual([]);
  const standard = { lowOccupancy: 0.6, itlMs: "auto", failureRate: 0.05 };
  expect((await engine.update({ alerts: { queueLength: 1 } })).alerts).toEqual({ ...standard, queueLength: 1 });
  await ask(["A", "B", "C"]);
  expect(alerts).toMatchObject([
    { name: "queue_length", status: "raised", value: 2, threshold: 1 },
    { name: "queue_length", status: "resolved", value: 2, threshold: 1 },
  ]);
  const refused = engine.update({ alerts: { queueLength: -1 } });
  await expect(refused).rejects.toMatchObject({ param: "alerts.queueLength" });
  for (let i = 0; i < 20; i++) await expect(ask("")).rejects.toMatchObject({ param: "prompt" });
  expect(alerts.at(-1)).toMatchObject({ name: "failure_rate", status: "raised", threshold: 0.05 });
  await engine.update({ alerts: { failureRate: null } });
  expect(alerts.at(-1)).toMatchObject({ name: "failure_rate", status: "resolved" });
  await engine.dispose();
});
