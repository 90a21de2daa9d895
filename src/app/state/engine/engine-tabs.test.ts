import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { CreateEngineOptions } from "../../../protocol/engine.ts";
import { ChorusError } from "../../../protocol/errors.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { drawFaults, faultyChannel, isBroken, type Fault } from "../../../../tests/fakes/faulty-channel.ts";
import { EngineControl } from "./engine-control.ts";
import { EngineTabs } from "./engine-tabs.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ENGINE_BYTES = 8_500_000 + 7_900_000;

/** A browser with tabs: what each started its engines with, newest last. Messages take `delayMs`, or have faults. */
function browser({ delayMs = 0, faultOf = null as (() => Fault) | null } = {}) {
  const tabs: { listener: (event: { data: unknown }) => void }[] = [];
  const held: { name: string }[] = [];
  const query = vi.fn<() => Promise<LockManagerSnapshot>>(async () => ({ held: [...held] }));
  const request = async (name: string, _: LockOptions, granted: () => Promise<void>) => {
    const lock = { name };
    held.push(lock);
    await granted();
    held.splice(held.indexOf(lock), 1);
  };
  const open = async (more: { fails?: (model: unknown) => boolean } = {}) => {
    const requested: Pick<CreateEngineOptions, "model" | "backend" | "worker">[] = [];
    const control = new EngineControl({
      createEngine: async ({ model, backend, worker }) => {
        requested.push({ model, ...(backend && { backend }), ...(worker && { worker }) });
        if (more.fails?.(model)) throw new ChorusError("model_not_found", "Not there.");
        return new FakeEngine();
      },
      choice: { model: "fake" },
      scheduleFlush: (flush) => flush(),
      now: () => 0,
    });
    const own: (typeof tabs)[number] = { listener: () => undefined };
    tabs.push(own);
    const deliver = (data: unknown) => tabs.forEach((tab) => tab !== own && tab.listener({ data }));
    let onVisibility = (): void => undefined;
    const page = {
      visibilityState: "visible" as DocumentVisibilityState,
      addEventListener: (_: string, listener: unknown) => void (onVisibility = listener as () => void),
    };
    const show = (visibilityState: DocumentVisibilityState) => {
      page.visibilityState = visibilityState;
      onVisibility();
    };
    const engineTabs = new EngineTabs(control, {
      locks: { request: request as LockManager["request"], query },
      channel: {
        postMessage: faultOf
          ? faultyChannel(faultOf, deliver)
          : (data: unknown) => {
              const copy: unknown = structuredClone(data);
              if (delayMs === 0) deliver(copy);
              else setTimeout(deliver, delayMs, copy);
            },
        addEventListener: (_: string, listener: unknown) => void (own.listener = listener as (typeof own)["listener"]),
      },
      canShare: true,
      page,
    });
    await control.start();
    return { control, engineTabs, requested, show };
  };
  return { open, query };
}

const refreshed = () => vi.advanceTimersByTimeAsync(1000);

it("says what the engines of other tabs take, as long as they are there", async () => {
  const { open } = browser();
  const a = await open();
  await refreshed();
  expect(a.engineTabs.store.getState()).toEqual({ hereBytes: ENGINE_BYTES, numOthers: 0, othersBytes: 0 });
  const b = await open();
  const c = await open();
  await refreshed();
  expect(a.engineTabs.store.getState()).toMatchObject({ numOthers: 2, othersBytes: 2 * ENGINE_BYTES });
  const engine = b.control.store.getState();
  if (engine.status === "ready") (engine.engine as FakeEngine).die({ code: "device_lost", message: "", param: null });
  await refreshed();
  expect(b.engineTabs.store.getState()).toEqual({ hereBytes: null, numOthers: 2, othersBytes: 2 * ENGINE_BYTES });
  expect(c.engineTabs.store.getState()).toMatchObject({ numOthers: 1, othersBytes: ENGINE_BYTES });
});

it("asks for the engines of other tabs only while there are some and this tab is visible", async () => {
  const { open, query } = browser();
  const numQueries = async () => {
    query.mockClear();
    await vi.advanceTimersByTimeAsync(10_000);
    return query.mock.calls.length;
  };
  const a = await open();
  await refreshed();
  expect(await numQueries()).toBe(0);
  const b = await open();
  await refreshed();
  expect(a.engineTabs.store.getState().numOthers).toBe(1);
  a.show("hidden");
  b.show("hidden");
  expect(await numQueries()).toBe(0);
  a.show("visible");
  expect(await numQueries()).toBeGreaterThan(1);
  await b.control.switchTo({ model: "other" });
  await refreshed();
  expect(a.engineTabs.store.getState().numOthers).toBe(1);
});

it("has all tabs share an engine once one does, and count it once", async () => {
  const { open } = browser();
  const [a, b] = [await open(), await open()];
  await a.control.share(true);
  await refreshed();
  expect(b.control.chosen.getState().isShared).toBe(true);
  for (const { requested, engineTabs } of [a, b]) {
    expect(requested.map(({ worker }) => worker)).toEqual([true, "shared"]);
    expect(engineTabs.store.getState()).toEqual({ hereBytes: ENGINE_BYTES, numOthers: 0, othersBytes: 0 });
  }
  await b.control.share(false);
  await refreshed();
  expect(a.requested.at(-1)?.worker).toBe(true);
  expect(a.engineTabs.store.getState().numOthers).toBe(1);
});

it("has the tabs of one engine follow a choice, and go back with a tab that could not load it", async () => {
  const { open } = browser();
  const fails = (model: unknown) => model === "missing";
  const [a, b] = [await open({ fails }), await open({ fails })];
  await a.control.share(true);
  await a.control.switchTo({ model: "other", dtype: "q8" });
  await refreshed();
  expect(b.control.chosen.getState().model).toEqual({ model: "other", dtype: "q8" });
  await b.control.useBackend("cpu");
  await refreshed();
  expect(a.requested.at(-1)).toEqual({ model: "other", backend: "cpu", worker: "shared" });
  expect(await a.control.switchTo({ model: "missing" })).toMatchObject({ code: "model_not_found" });
  await refreshed();
  expect(b.control.chosen.getState().model).toMatchObject({ model: "other" });
  expect(b.control.store.getState()).toMatchObject({ status: "ready" });
  expect(b.engineTabs.store.getState().numOthers).toBe(0);
});

it("lets each tab choose for itself where each has an engine of its own", async () => {
  const { open } = browser();
  const [a, b] = [await open(), await open()];
  await a.control.switchTo({ model: "other" });
  await a.control.useBackend("cpu");
  expect(b.requested).toHaveLength(1);
});

it("keeps a tab's own files out of the engine that is shared", async () => {
  const { open } = browser();
  const [a, b] = [await open(), await open()];
  await a.control.share(true);
  await refreshed();
  await b.control.switchTo({ model: [] });
  expect(a.control.chosen.getState().model).toEqual({ model: "fake" });
  await a.control.useBackend("cpu");
  await refreshed();
  expect(b.control.chosen.getState().model).toEqual({ model: [] });
  expect(a.engineTabs.store.getState().numOthers).toBe(1);
});

it("has the tabs of one engine take a change that needs no restart, and counts them once as before", async () => {
  const { open } = browser();
  const [a, b] = [await open(), await open()];
  await a.control.share(true);
  await a.control.reconfigure({ maxNumSeqs: 4 });
  await refreshed();
  expect(b.control.chosen.getState().config).toEqual({ maxNumSeqs: 4 });
  expect([a.requested.length, b.requested.length]).toEqual([2, 2]);
  for (const { engineTabs } of [a, b]) expect(engineTabs.store.getState().numOthers).toBe(0);
});

it("has all tabs end with the same choice when several choose at the same moment", async () => {
  const { open } = browser({ delayMs: 10 });
  const [a, b, c] = [await open(), await open(), await open()];
  await a.control.share(true);
  await refreshed();
  const first = [a.control.reconfigure({ numGpuBlocks: 100 }), b.control.useBackend("cpu")];
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all([...first, c.control.reconfigure({ numGpuBlocks: 200 }), refreshed()]);
  for (const { control } of [a, b, c]) {
    expect(control.chosen.getState()).toMatchObject({ backend: "auto", config: { numGpuBlocks: 200 } });
  }
});

it("a choice whose message is late, doubled, broken or lost counts in its own tab, and the next one that comes counts in all", async () => {
  await fc.assert(
    fc.asyncProperty(drawFaults(6), async (faults) => {
      let fault: Fault = "none";
      const { open } = browser({ faultOf: () => fault });
      const tabs = [await open(), await open(), await open()];
      await tabs[0]?.control.share(true);
      await refreshed();
      let expected: (number | undefined)[] = [];
      for (const [numGpuBlocks, drawn] of faults.entries()) {
        fault = drawn;
        const chooser = numGpuBlocks % tabs.length;
        await tabs[chooser]?.control.reconfigure({ numGpuBlocks });
        await refreshed();
        const isHeard = !isBroken(fault) && fault !== "lost";
        expected = tabs.map((_, tab) => (isHeard || tab === chooser ? numGpuBlocks : expected[tab]));
        expect(tabs.map(({ control }) => control.chosen.getState().config.numGpuBlocks)).toEqual(expected);
        expect(tabs.map(({ control }) => control.store.getState().status)).toEqual(["ready", "ready", "ready"]);
      }
      vi.clearAllTimers();
    }),
    { numRuns: 40 },
  );
});
