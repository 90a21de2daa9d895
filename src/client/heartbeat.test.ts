import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { FakeSide } from "../../tests/app/fake-side.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

async function setUp(ping: () => Promise<unknown>) {
  const side = new FakeSide();
  side.ping = vi.fn<() => Promise<unknown>>(ping);
  const client = await side.connect();
  const fatal: string[] = [];
  client.on("fatal", ({ code }) => fatal.push(code));
  const outcomes: string[] = [];
  const ask = () =>
    void client.completions.create({ prompt: "a" }).catch(({ code }: { code: string }) => outcomes.push(code));
  return { side, client, fatal, outcomes, ask };
}

const silent = () => new Promise(() => undefined);

it("ends a worker that no longer answers, rejects what is open, and says so", async () => {
  const { side, client, fatal, outcomes, ask } = await setUp(silent);
  ask();
  await vi.advanceTimersByTimeAsync(50_000);
  expect(outcomes).toEqual([]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect([outcomes, fatal, side.isClosed]).toEqual([["worker_died"], ["worker_died"], true]);
  await expect(client.metrics()).rejects.toMatchObject({ code: "worker_died" });
});

it("leaves a worker alone that answers, however long a request takes", async () => {
  const { side, outcomes, ask } = await setUp(() => new Promise((resolve) => setTimeout(resolve, 30_000)));
  ask();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(outcomes).toEqual([]);
  expect(vi.mocked(side.ping!).mock.calls.length).toBeGreaterThan(10);
});

it("does not count the time of a freeze", async () => {
  const { outcomes, ask } = await setUp(silent);
  ask();
  await vi.advanceTimersByTimeAsync(20_000);
  const frozen = performance.now() + 3_600_000;
  vi.spyOn(performance, "now").mockImplementation(() => frozen); // the clock goes on while timers stand still
  await vi.advanceTimersByTimeAsync(5000);
  expect(outcomes).toEqual([]);
  vi.restoreAllMocks();
});

it("asks nothing and leaves no timer behind while nothing is awaited", async () => {
  const { side } = await setUp(silent);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(side.ping).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

it("ends a worker that gets stuck while it loads", async () => {
  const side = new FakeSide();
  side.loaded = new Promise(() => undefined);
  side.ping = silent;
  const outcome = side.connect().catch(({ code }: { code: string }) => code);
  await vi.advanceTimersByTimeAsync(80_000);
  expect(await outcome).toBe("worker_died");
  expect(side.isClosed).toBe(true);
});

it("does not wait for a stuck worker when the engine is disposed of", async () => {
  const { side, client } = await setUp(silent);
  side.service.dispose = () => new Promise(() => undefined);
  const disposing = client.dispose();
  await vi.advanceTimersByTimeAsync(6000);
  await disposing;
  expect(side.isClosed).toBe(true);
});
