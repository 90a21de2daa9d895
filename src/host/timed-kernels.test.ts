// Who listens for the times of kernels changes nothing but the steps that are timed.

import { afterEach, expect, test, vi } from "vitest";

import { openFakeModel } from "../../tests/fakes/fake-model.ts";
import { VirtualClock } from "../../tests/fakes/virtual-clock.ts";

afterEach(() => void vi.restoreAllMocks());

test("a device that refuses to time kernels answers on, and the log says so", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const { engine, backend } = await openFakeModel({ logLevel: "warn" });
  expect(engine.model.canTimeKernels).toBe(true); // as far as it knew
  backend.canTime = false;
  const timed: number[] = [];
  engine.on("kernels", ({ step }) => timed.push(step));
  const { choices } = await engine.completions.create({ prompt: [1, 2, 3], max_tokens: 12, ignore_eos: true });
  expect(choices[0]?.finish_reason).toBe("length");
  expect(timed).toEqual([]);
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/^chorus: no kernel is timed: /)]]);
  await engine.dispose();
});

test.each([
  ["their times come after their reports", true],
  ["without a clock there are no times", false],
])("steps that are timed, and slower for that, raise no alert; %s", async (_, hasClock) => {
  const clock = new VirtualClock();
  const { engine, backend } = await clock.run(openFakeModel({ alerts: { itlMs: 50 } }, clock));
  backend.hasClock = hasClock;
  backend.stepTime = (_plan, isTimed) => clock.sleep(isTimed ? 400 : 10);
  const received: string[] = [];
  engine.on("alert", ({ name }) => received.push(name));
  engine.on("step", ({ step, stepMs }) => stepMs > 300 && received.push(`step ${step}`));
  engine.on("kernels", ({ step }) => received.push(`kernels of ${step}`));
  await clock.run(engine.completions.create({ prompt: [1, 2, 3], max_tokens: 60, ignore_eos: true }));
  const slow = [1, 9, 17, 25, 33, 41, 49, 57];
  expect(received).toEqual(slow.flatMap((step) => [`step ${step}`, ...(hasClock ? [`kernels of ${step}`] : [])]));
  const samples = (await engine.metrics())
    .split("\n")
    .filter((line) => /step_seconds_bucket.*le="(0.2|0.5)"/.test(line));
  expect(samples.map((line) => Number(line.split(" ").at(-1)))).toEqual([60 - slow.length, 60]);
  await engine.dispose();
});
