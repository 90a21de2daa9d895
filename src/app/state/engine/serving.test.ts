import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { BatchingMode } from "../../../protocol/config.ts";
import type { CreateEngineOptions } from "../../../protocol/engine.ts";
import { ChorusError } from "../../../protocol/errors.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { readRoute } from "../app/router.ts";
import { engineConfigOf } from "../settings/serving-settings.ts";
import { EngineControl } from "./engine-control.ts";
import { modeOf, openServing, Serving } from "./serving.ts";

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** Engines to start before others. */
const prepared: FakeEngine[] = [];

/** A page that was opened at this hash. An engine of 200 sequences can't start. */
async function open(hash = "") {
  const requested: CreateEngineOptions[] = [];
  const engines: FakeEngine[] = [];
  const opened = openServing(readRoute(hash));
  const engine = new EngineControl({
    createEngine: async (options) => {
      requested.push(options);
      const { maxNumSeqs = 64 } = options;
      if (maxNumSeqs === 200) throw new ChorusError("out_of_memory", "200 are too many.", "maxNumSeqs");
      const created = prepared.pop() ?? new FakeEngine({ maxNumSeqs });
      engines.push(created);
      return created;
    },
    choice: { model: "fake" },
    config: engineConfigOf(opened.settings),
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });
  const onLink = vi.fn<() => void>();
  const serving = new Serving({ engine, opened, onLink });
  await engine.start();
  const mode = () => modeOf(serving.store.getState());
  return { requested, engines, mode, engine, serving, onLink };
}

it("changes a running engine where it can, and restarts it for what is fixed", async () => {
  const { requested, engines, mode, engine, serving } = await open();
  expect(engine.needsRestart(engineConfigOf({ batchingMode: "static" }))).toBe(false);
  expect(await serving.apply({ batchingMode: "static" })).toBeNull();
  expect(mode()).toBe("static");
  expect(requested).toHaveLength(1);
  expect(await serving.apply({ batchingMode: "static", maxNumSeqs: 4, enablePrefixCaching: false })).toBeNull();
  expect(engines[0]?.updates).toContainEqual({ maxNumSeqs: 4, enablePrefixCaching: false });
  expect(await serving.apply({ batchingMode: "static" })).toBeNull();
  expect(engines[0]?.config).toMatchObject({ maxNumSeqs: 64, enablePrefixCaching: true });
  expect(requested).toHaveLength(1);
  expect(engine.needsRestart(engineConfigOf({ "speculation.method": "ngram" }))).toBe(true);
  expect(await serving.apply({ batchingMode: "static", maxNumSeqs: 4, "speculation.method": "ngram" })).toBeNull();
  expect(requested).toHaveLength(2);
  expect(requested[1]).toMatchObject({ maxNumSeqs: 4, speculation: { method: "ngram" } });
});

it("applies all changes of a running engine together, and says so once", async () => {
  const { engines, engine, serving } = await open();
  const [running] = engines;
  if (!running) throw new Error("No engine runs.");
  const seen = vi.fn<() => void>();
  serving.store.subscribe(seen);
  expect(await serving.apply({ batchingMode: "static", maxNumSeqs: 4 })).toBeNull();
  expect(await serving.apply({ batchingMode: "static", maxNumSeqs: 4 })).toBeNull();
  expect(running.updates).toEqual([{ batchingMode: "static", maxNumSeqs: 4 }]);
  expect(seen).toHaveBeenCalledTimes(2);
  expect(engine.chosen.getState().config).toEqual({ maxNumSeqs: 4 });
});

it("keeps what was applied, the mode chosen in the bar included", async () => {
  const { serving } = await open();
  await serving.apply({ maxNumSeqs: 4 });
  serving.chooseMode("sequential");
  expect(serving.store.getState().settings).toEqual({ maxNumSeqs: 4, batchingMode: "sequential" });
  const next = await open();
  expect(next.serving.store.getState()).toEqual({
    settings: { batchingMode: "sequential", maxNumSeqs: 4 },
    link: null,
    lockedMode: null,
  });
  expect(next.requested[0]).toMatchObject({ maxNumSeqs: 4 });
  expect(next.mode()).toBe("sequential");
});

it.each(["{", "[", '{"heat":4}'])("has no settings where what is kept is %s", async (text) => {
  localStorage.setItem("chorus.serving", text);
  expect((await open()).serving.store.getState().settings).toEqual({});
});

it("the default mode, chosen again, is no setting", async () => {
  const { serving } = await open();
  serving.chooseMode("static");
  serving.chooseMode("continuous");
  expect(serving.store.getState().settings).toEqual({});
  expect((await open()).serving.store.getState().settings).toEqual({});
});

it("the default mode is no setting either where it was kept or a link names it", async () => {
  localStorage.setItem("chorus.serving", JSON.stringify({ batchingMode: "continuous", maxNumSeqs: 4 }));
  expect((await open()).serving.store.getState().settings).toEqual({ maxNumSeqs: 4 });
  localStorage.setItem("chorus.serving", JSON.stringify({ batchingMode: "static" }));
  const { serving, mode } = await open("#/?batchingMode=continuous");
  expect(serving.store.getState().settings).toEqual({});
  expect(mode()).toBe("continuous");
});

it("doesn't take the mode that the demo holds for the person's", async () => {
  const { serving, mode } = await open();
  serving.lockMode("sequential");
  expect(mode()).toBe("sequential");
  expect(serving.store.getState().settings).toEqual({});
});

it("shows the mode that another tab chose for the engine that they share, and leaves keeping it to that tab", async () => {
  const { engine, serving } = await open();
  const state = engine.store.getState();
  if (state.status !== "ready") throw new Error("not ready");
  await state.engine.update({ batchingMode: "static" });
  expect(serving.store.getState().settings).toEqual({ batchingMode: "static" });
  expect((await open()).serving.store.getState().settings).toEqual({});
});

it("goes back to the settings before when the engine can't start", async () => {
  const { requested, engine, serving, onLink } = await open();
  await serving.apply({ maxNumSeqs: 100 });
  expect(await serving.apply({ maxNumSeqs: 200 })).toMatchObject({ message: "200 are too many.", param: "maxNumSeqs" });
  expect(serving.store.getState().settings).toEqual({ maxNumSeqs: 100 });
  expect(requested.map(({ maxNumSeqs }) => maxNumSeqs)).toEqual([undefined, 100, 200, 100]);
  expect(engine.store.getState()).toMatchObject({ status: "ready" });
  expect(onLink).toHaveBeenCalledTimes(1);
});

it("a link counts on its visit only, and until other settings are applied", async () => {
  const before = await open();
  await before.serving.apply({ runAhead: 0 });
  const { requested, mode, serving } = await open("#/?maxNumSeqs=4&batchingMode=static");
  expect(requested[0]).toMatchObject({ maxNumSeqs: 4 });
  expect(requested[0]).not.toHaveProperty("runAhead");
  expect(mode()).toBe("static");
  expect(serving.store.getState().link).toEqual({ status: "applied" });
  expect((await open()).serving.store.getState().settings).toEqual({ runAhead: 0 });
  await serving.apply({ maxNumSeqs: 2 });
  expect(serving.store.getState()).toMatchObject({ settings: { maxNumSeqs: 2 }, link: null });
});

it("the address has the mode chosen in the bar, so that coming back to it changes nothing", async () => {
  const { serving, onLink } = await open("#/?maxNumSeqs=4&batchingMode=static");
  serving.chooseMode("sequential");
  expect(onLink).toHaveBeenLastCalledWith("#/?batchingMode=sequential&maxNumSeqs=4");
  serving.chooseMode("continuous");
  expect(onLink).toHaveBeenLastCalledWith("#/?maxNumSeqs=4");
  await serving.apply({ maxNumSeqs: 2 });
  expect(onLink).toHaveBeenLastCalledWith("#/");
});

it("a link that is wrong changes nothing, and is explained", async () => {
  const { requested, serving } = await open("#/?maxNumSeqs=none");
  expect(requested[0]).not.toHaveProperty("maxNumSeqs");
  expect(serving.store.getState().link).toMatchObject({ status: "refused", error: { param: "maxNumSeqs" } });
});

it("a link opened in the page is followed; one of another page, or without settings, changes nothing", async () => {
  const { requested, serving } = await open();
  await serving.follow(readRoute("#/bench?quick"));
  await serving.follow(readRoute("#/"));
  expect(requested).toHaveLength(1);
  await serving.follow(readRoute("#/?maxNumSeqs=100"));
  expect(requested.map(({ maxNumSeqs }) => maxNumSeqs)).toEqual([undefined, 100]);
  await serving.follow(readRoute("#/?maxNumSeqs=200"));
  expect(serving.store.getState()).toMatchObject({ settings: { maxNumSeqs: 100 }, link: { status: "refused" } });
});

it("settings that another tab has changed replace those of the link, also in the address; its mode stays", async () => {
  const { engine, mode, serving, onLink } = await open("#/?maxNumSeqs=4&batchingMode=static");
  await engine.share(true);
  expect(serving.store.getState().link).toEqual({ status: "applied" });
  const chosen = engine.chosen.getState();
  await engine.follow({ ...chosen, config: { maxNumSeqs: 2 } });
  expect(serving.store.getState()).toMatchObject({ settings: { maxNumSeqs: 2, batchingMode: "static" }, link: null });
  expect(onLink).toHaveBeenLastCalledWith("#/");
  expect(mode()).toBe("static");
});

it("a link's settings that another tab happens to have chosen, too, stay those of the link", async () => {
  const { engine, serving, onLink } = await open("#/?maxNumSeqs=4");
  await engine.share(true);
  await engine.follow(engine.chosen.getState());
  expect(serving.store.getState().link).toEqual({ status: "applied" });
  expect(onLink).not.toHaveBeenCalled();
});

it("follows what another tab has changed on the engine that both share", async () => {
  const { requested, engine, serving } = await open();
  await engine.share(true);
  const chosen = engine.chosen.getState();
  await engine.follow({ ...chosen, config: { maxNumSeqs: 4, speculation: null } });
  expect(requested).toHaveLength(2);
  expect(serving.store.getState().settings).toEqual({ maxNumSeqs: 4 });
  await engine.follow({ ...chosen, config: { maxNumSeqs: 100 } });
  expect(requested.map(({ maxNumSeqs }) => maxNumSeqs)).toEqual([undefined, undefined, 100]);
  expect(serving.store.getState().settings).toEqual({ maxNumSeqs: 100 });
});

it("tells the engine the mode at once, and the next engine when it is there", async () => {
  const { engines, engine, serving } = await open();
  expect(engines[0]?.updates).toEqual([]);
  serving.chooseMode("static");
  expect(engines[0]?.updates).toEqual([{ batchingMode: "static" }]);
  engines[0]?.die({ code: "worker_died", message: "Gone.", param: null });
  serving.chooseMode("sequential");
  await engine.start();
  expect(engines[1]?.updates).toEqual([{ batchingMode: "sequential" }]);
});

it("follows what another tab chooses for the engine that they share, and what it finds there", async () => {
  const { engines, engine, mode, serving } = await open();
  await engines[0]?.update({ batchingMode: "static" });
  expect(mode()).toBe("static");
  serving.chooseMode("continuous");
  expect(mode()).toBe("continuous");
  const joined = new FakeEngine({ mode: "sequential" });
  prepared.push(joined);
  await engine.start();
  expect(mode()).toBe("sequential");
  expect(joined.updates).toEqual([]);
  // The engine before has nothing to say any more.
  await engines[0]?.update({ batchingMode: "static" });
  expect(mode()).toBe("sequential");
});

it("does not go back to an older mode that the engine tells of late, and takes another tab's newer one", async () => {
  const { engines, mode, serving } = await open();
  const [engine] = engines;
  if (!engine) throw new Error("No engine runs.");
  const update = engine.update.bind(engine);
  const notify = (batchingMode: BatchingMode) => update({ batchingMode });
  let take: () => void = () => undefined;
  vi.spyOn(engine, "update").mockImplementation(() => new Promise((resolve) => (take = () => resolve(engine.config))));
  serving.chooseMode("sequential"); // it is on its way
  await notify("continuous");
  expect(mode()).toBe("sequential");
  await notify("sequential");
  await notify("static");
  take();
  await expect.poll(mode).toBe("static");
});

it("is the person's again after the demo, whatever was chosen meanwhile", async () => {
  const { engines, mode, serving } = await open();
  serving.chooseMode("static");
  serving.lockMode("sequential");
  await engines[0]?.update({ batchingMode: "continuous" });
  expect(mode()).toBe("sequential");
  serving.lockMode(null);
  serving.lockMode(null);
  expect(mode()).toBe("static");
  expect(engines[0]?.updates.at(-1)).toEqual({ batchingMode: "static" });
  expect(serving.store.getState().settings).toEqual({ batchingMode: "static" });
});
