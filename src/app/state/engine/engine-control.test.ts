import { expect, it, vi } from "vitest";
import type { CreateEngineOptions } from "../../../protocol/engine.ts";
import { ChorusError } from "../../../protocol/errors.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { settle } from "../../../../tests/app/open-panes.ts";
import { EngineControl, rememberedBackend, REPLACED, type CreateEngine } from "./engine-control.ts";

const setUp = (createEngine: CreateEngine) =>
  new EngineControl({
    createEngine,
    choice: { model: "fake" },
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });

it("loads the model again on another backend", async () => {
  const requested: unknown[] = [];
  const control = setUp(async ({ model, backend }) => {
    requested.push([model, backend]);
    return new FakeEngine();
  });
  await control.start();
  await control.useBackend("cpu");
  expect(control.chosen.getState().backend).toBe("cpu");
  expect(requested).toEqual([
    ["fake", "auto"],
    ["fake", "cpu"],
  ]);
  expect(control.store.getState()).toMatchObject({ status: "ready" });
});

it("tells a machine that can't compute from a model that can't be loaded", async () => {
  const errors = [
    new ChorusError("webgpu_unavailable", "No adapter."),
    new ChorusError("wasm_unavailable", "No SIMD."),
    new ChorusError("model_not_found", "No config.json."),
  ];
  const control = setUp(() => Promise.reject(errors.shift() ?? new Error("once more")));
  await control.start();
  expect(control.store.getState()).toMatchObject({ status: "unsupported", error: { message: "No adapter." } });
  await control.start();
  expect(control.store.getState()).toMatchObject({ status: "unsupported", error: { message: "No SIMD." } });
  await control.start();
  expect(control.store.getState()).toMatchObject({ status: "failed", error: { code: "model_not_found" } });
});

it("shows the stages while it loads, from the beginning at each start", async () => {
  let options: CreateEngineOptions | undefined;
  const control = setUp((given) => {
    options = given;
    return new Promise(() => {});
  });
  void control.start();
  options?.onProgress?.({ stage: "adapter", done: 1, total: 1, detail: "Fake" });
  options?.onProgress?.({ stage: "weights", done: 1, total: 4 });
  expect(control.store.getState()).toMatchObject({
    stages: { adapter: { status: "done" }, weights: { status: "now" } },
  });
  void control.start();
  expect(control.store.getState()).toMatchObject({ stages: { adapter: { status: "todo" } } });
});

it("is dead when the engine says so, and an engine that was replaced is not heard any more", async () => {
  const engines = [new FakeEngine(), new FakeEngine()];
  let next = 0;
  const control = setUp(async () => engines[next++] ?? new FakeEngine());
  const lost = { code: "device_lost", message: "Lost.", param: null } as const;
  await control.start();
  engines[0]?.die(lost);
  expect(control.store.getState()).toMatchObject({ status: "dead", error: lost });
  await control.start();
  engines[0]?.die(lost);
  expect(control.store.getState()).toMatchObject({ status: "ready", engine: engines[1] });
});

it("starts again with another config, and with the one before if the engine refuses it", async () => {
  const requested: unknown[] = [];
  const control = setUp(async ({ numGpuBlocks }) => {
    requested.push(numGpuBlocks);
    if (numGpuBlocks === 300) throw new ChorusError("out_of_memory", "That is too much.", "numGpuBlocks");
    return new FakeEngine();
  });
  await control.start();
  expect(await control.reconfigure({ numGpuBlocks: 200 })).toBeNull();
  expect(await control.reconfigure({ numGpuBlocks: 300 })).toMatchObject({ param: "numGpuBlocks" });
  expect(control.chosen.getState().config).toEqual({ numGpuBlocks: 200 });
  expect(control.store.getState()).toMatchObject({ status: "ready" });
  expect(requested).toEqual([undefined, 200, 300, 200]);
});

it("a start that another one replaced is no success, unless the newer one has the same", async () => {
  const control = setUp(async ({ numGpuBlocks }) => {
    // The newer start is ready first; an older one may also fail.
    await new Promise((resolve) => setTimeout(resolve, numGpuBlocks === 200 ? 5 : 0));
    if (numGpuBlocks === 300) throw new ChorusError("out_of_memory", "That is too much.", "numGpuBlocks");
    return new FakeEngine();
  });
  await control.start();
  const replaced = [control.reconfigure({ numGpuBlocks: 200 }), control.reconfigure({ numGpuBlocks: 300 })];
  expect(await control.reconfigure({ numGpuBlocks: 100 })).toBeNull();
  expect(await Promise.all(replaced)).toEqual([REPLACED, REPLACED]);
  expect(control.chosen.getState().config).toEqual({ numGpuBlocks: 100 });
  expect(control.store.getState()).toMatchObject({ status: "ready" });
  const kept = control.reconfigure({ numGpuBlocks: 200 });
  await control.useBackend("cpu");
  expect(await kept).toBeNull();
  expect(control.chosen.getState().config).toEqual({ numGpuBlocks: 200 });
});

it("a start that another one replaced is known to have come to nothing, or not, once an engine is ready", async () => {
  const control = setUp(async ({ numGpuBlocks }) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (numGpuBlocks === 300) throw new ChorusError("out_of_memory", "That is too much.", "numGpuBlocks");
    return new FakeEngine();
  });
  await control.start();
  const first = control.reconfigure({ numGpuBlocks: 200 });
  const second = control.reconfigure({ numGpuBlocks: 300 });
  expect(await first).toBeNull();
  expect(control.store.getState()).toMatchObject({ status: "ready" });
  expect(control.chosen.getState().config).toEqual({ numGpuBlocks: 200 });
  expect(await second).toMatchObject({ param: "numGpuBlocks" });
});

it("changes a running engine where that is enough, and keeps what it refuses", async () => {
  const engine = new FakeEngine();
  const control = setUp(async () => engine);
  expect(control.needsRestart({ maxNumSeqs: 4 })).toBe(true); // none runs yet
  await control.start();
  expect(control.needsRestart({ maxNumSeqs: 4 })).toBe(false);
  expect(await control.reconfigure({ maxNumSeqs: 4, targetItlMs: 30 })).toBeNull();
  expect(await control.reconfigure({ maxNumSeqs: 4, runAhead: 9 })).toMatchObject({ param: "runAhead" });
  expect(engine.updates).toEqual([
    { maxNumSeqs: 4, targetItlMs: 30 },
    { targetItlMs: null, runAhead: 9 },
  ]);
  expect(control.chosen.getState().config).toEqual({ maxNumSeqs: 4, targetItlMs: 30 });
  expect(control.needsRestart({ maxNumSeqs: 65 })).toBe(true);
  expect(control.store.getState()).toMatchObject({ status: "ready", engine });
});

it("starts without a draft model that can't be had, and says why", async () => {
  const missing = new ChorusError("model_not_found", "The draft model: there is no config.json.", "speculation.model");
  const requested: CreateEngineOptions[] = [];
  const control = new EngineControl({
    createEngine: async (options) => {
      requested.push(options);
      if (options.speculation) throw missing;
      return new FakeEngine();
    },
    choice: { model: "fake" },
    config: { maxNumSeqs: 4, speculation: { method: "draft_model", model: "no/where" } },
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });
  await control.start();
  expect(control.store.getState()).toMatchObject({ status: "ready" });
  expect(requested.at(-1)).toMatchObject({ maxNumSeqs: 4 });
  expect(control.chosen.getState().config).toEqual({ maxNumSeqs: 4 });
  expect(control.leftOut.getState()).toMatchObject({ message: missing.message });
  await control.reconfigure({ numGpuBlocks: 100 });
  expect(control.leftOut.getState()).toBeNull();
});

it("forgets a format that the model's weights can't have, and says why", async () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", { setItem: (key: string, value: string) => kept.set(key, value) });
  const refused = new ChorusError("invalid_value", "The weights are packed already.", "dtype");
  const requested: unknown[] = [];
  const control = new EngineControl({
    createEngine: async ({ dtype }) => {
      requested.push(dtype);
      if (dtype) throw refused;
      return new FakeEngine();
    },
    choice: { model: "owner/name:Q4_K_M", dtype: "q8" },
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });
  await control.start();
  vi.unstubAllGlobals();
  expect(control.store.getState()).toMatchObject({ status: "ready" });
  expect([requested, control.chosen.getState().model]).toEqual([["q8", undefined], { model: "owner/name:Q4_K_M" }]);
  expect(control.leftOut.getState()).toMatchObject({ message: refused.message });
  expect([...kept.values()]).toEqual([expect.not.stringContaining("dtype")]);
});

it("takes another backend where the chosen GPU isn't there, says why, and remembers the choice", async () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  const missing = new ChorusError("webgpu_unavailable", "No adapter.");
  const requested: unknown[] = [];
  const control = setUp(async ({ backend }) => {
    requested.push(backend);
    if (backend === "webgpu") throw missing;
    return new FakeEngine({ model: { backend: "cpu" } });
  });
  await control.useBackend("webgpu");
  expect(control.store.getState()).toMatchObject({ status: "ready" });
  expect([requested, control.chosen.getState().backend, rememberedBackend()]).toEqual([
    ["webgpu", "auto"],
    "auto",
    "webgpu",
  ]);
  vi.unstubAllGlobals();
  expect(control.withoutGpu.getState()).toMatchObject({ message: "No adapter." });
  await control.useBackend("cpu");
  expect(control.withoutGpu.getState()).toBeNull();
});

it("takes another backend, too, where the chosen GPU is gone when another model is chosen", async () => {
  let isThere = true;
  const control = setUp(async ({ backend }) => {
    if (backend === "webgpu" && !isThere) throw new ChorusError("webgpu_unavailable", "No adapter.");
    return new FakeEngine({ model: { backend: isThere ? "webgpu" : "cpu" } });
  });
  await control.useBackend("webgpu");
  isThere = false;
  expect(await control.switchTo({ model: "other" })).toBeNull();
  expect(control.store.getState()).toMatchObject({ status: "ready" });
  expect([control.chosen.getState().backend, control.chosen.getState().model]).toEqual(["auto", { model: "other" }]);
  expect(control.withoutGpu.getState()).toMatchObject({ message: "No adapter." });
  // It is back, and "auto" finds it: there is nothing left to say.
  isThere = true;
  await control.switchTo({ model: "third" });
  expect(control.withoutGpu.getState()).toBeNull();
});

it("loads a model once the engine before has ended, whoever starts it, and only the newest", async () => {
  const requested: unknown[] = [];
  const engine = new FakeEngine();
  const control = setUp(async ({ model }) => (requested.push(model), engine));
  await control.start();
  let endOld = () => {};
  const dispose = vi.spyOn(engine, "dispose").mockReturnValue(new Promise<void>((resolve) => (endOld = resolve)));
  const second = control.switchTo({ model: "second" });
  const third = control.switchTo({ model: "third" });
  await settle();
  expect([requested, dispose.mock.calls.length]).toEqual([["fake"], 1]);
  expect(control.store.getState()).toMatchObject({ status: "loading" });
  endOld();
  expect([await second, await third]).toEqual([REPLACED, null]);
  expect(requested).toEqual(["fake", "third"]);
});

it.each<[string, (signal: AbortSignal) => Promise<FakeEngine>, string[]]>([
  [
    "is given up",
    (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    [],
  ],
  [
    "is ready all the same",
    (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(new FakeEngine()))),
    ["first ends"],
  ],
])("a load that another one replaces has ended before that one begins, if it %s", async (_, replaced, ends) => {
  const events: string[] = [];
  const control = setUp(async ({ model, signal }) => {
    events.push(`${JSON.stringify(model)} loads`);
    if (model === "third" || !signal) return new FakeEngine();
    const engine = await replaced(signal).finally(() => events.push("first loads no more"));
    engine.dispose = async () => void events.push("first ends");
    return engine;
  });
  const first = control.start();
  const second = control.switchTo({ model: "second" });
  const third = control.switchTo({ model: "third" });
  expect([await first, await second, await third]).toEqual([undefined, REPLACED, null]);
  expect(events).toEqual([`"fake" loads`, "first loads no more", ...ends, `"third" loads`]);
  expect(control.store.getState()).toMatchObject({ status: "ready" });
});

it("what does not end, though it was replaced, holds up the next load for 10 s only", async () => {
  vi.useFakeTimers();
  try {
    const asked: unknown[] = [];
    const control = setUp(({ model }) => {
      asked.push(model);
      return model === "fake" ? new Promise(() => {}) : Promise.resolve(new FakeEngine());
    });
    void control.start();
    const second = control.switchTo({ model: "second" });
    await vi.advanceTimersByTimeAsync(9_000);
    expect(asked).toEqual(["fake"]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked).toEqual(["fake", "second"]);
    expect(await second).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});
