import { expect, it } from "vitest";
import type { ChorusErrorCode } from "../../protocol/errors.ts";
import { FakeEngine } from "../../testing/app/fake-engine.ts";
import { EngineControl } from "./engine-control.ts";
import { EngineRecovery } from "./engine-recovery.ts";

async function setUp() {
  const engines: FakeEngine[] = [];
  let nowMs = 0;
  const now = () => nowMs;
  const control = new EngineControl({
    createEngine: async () => {
      const engine = new FakeEngine();
      engines.push(engine);
      return engine;
    },
    choice: { model: "fake" },
    scheduleFlush: (flush) => flush(),
    now,
  });
  const recovery = new EngineRecovery(control, now);
  await control.start();
  const die = async (code: ChorusErrorCode, atMs: number) => {
    nowMs = atMs;
    engines.at(-1)?.die({ code, message: "Gone.", param: null });
    const cause = recovery.store.getState()?.code ?? null;
    await new Promise((resolve) => setTimeout(resolve, 0));
    return { cause, status: control.store.getState().status };
  };
  return { engines, recovery, die };
}

it("starts an engine again that died, and says why until it runs", async () => {
  const { engines, recovery, die } = await setUp();
  expect(await die("device_lost", 0)).toEqual({ cause: "device_lost", status: "ready" });
  expect(engines).toHaveLength(2);
  expect(recovery.store.getState()).toBeNull();
});

it("asks a person where it dies again within five minutes", async () => {
  const { die } = await setUp();
  await die("worker_died", 1000);
  expect(await die("worker_died", 300_000)).toEqual({ cause: null, status: "dead" });
});

it("does it again after five minutes", async () => {
  const { die } = await setUp();
  await die("worker_died", 1000);
  expect(await die("device_lost", 301_000)).toMatchObject({ status: "ready" });
});

it("does not try again what was too large for the memory", async () => {
  const { die } = await setUp();
  expect(await die("out_of_memory", 0)).toEqual({ cause: null, status: "dead" });
});
