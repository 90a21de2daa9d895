import { expect, it } from "vitest";
import type { ChorusErrorCode } from "../../../protocol/errors.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { EngineControl } from "./engine-control.ts";
import { recoverEngine } from "./engine-recovery.ts";

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
  const recovery = recoverEngine(control, now);
  await control.start();
  const die = async (code: ChorusErrorCode, atMs: number) => {
    nowMs = atMs;
    engines.at(-1)?.die({ code, message: "Gone.", param: null });
    const cause = recovery.getState()?.code ?? null;
    await new Promise((resolve) => setTimeout(resolve, 0));
    return { cause, status: control.store.getState().status };
  };
  return { engines, recovery, die };
}

it("starts an engine again that died, and says why until it runs", async () => {
  const { engines, recovery, die } = await setUp();
  expect(await die("worker_died", 0)).toEqual({ cause: "worker_died", status: "ready" });
  expect(engines).toHaveLength(2);
  expect(recovery.getState()).toBeNull();
});

it("asks a person where it dies again within five minutes", async () => {
  const { die } = await setUp();
  await die("worker_died", 1000);
  expect(await die("worker_died", 300_000)).toEqual({ cause: null, status: "dead" });
});

it("does it again after five minutes", async () => {
  const { die } = await setUp();
  await die("worker_died", 1000);
  expect(await die("worker_died", 301_000)).toMatchObject({ status: "ready" });
});

it.each(["out_of_memory", "device_lost"] as const)("does not try again what would fail again: %s", async (code) => {
  const { die } = await setUp();
  expect(await die(code, 0)).toEqual({ cause: null, status: "dead" });
});

it("says that the GPU was lost while the engine replaces it, and leaves the engine alone", async () => {
  const { engines, recovery } = await setUp();
  const loss = { code: "device_lost", message: "Gone.", param: null } as const;
  engines[0]?.reportDevice({ status: "lost", loss, adapter: "Fake adapter" });
  expect(recovery.getState()).toEqual(loss);
  engines[0]?.reportDevice({ status: "replaced", loss, adapter: "Fake adapter" });
  expect(recovery.getState()).toBeNull();
  expect(engines).toHaveLength(1);
});
