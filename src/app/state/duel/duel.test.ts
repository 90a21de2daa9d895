import { describe, expect, it, vi } from "vitest";

import type { FakeEngineOptions } from "../../../../tests/app/fake-engine.ts";
import { openPanes, settle } from "../../../../tests/app/open-panes.ts";
import { BatchingModeControl } from "../batch/batching-mode.ts";
import { Duel, type DuelSide } from "./duel.ts";
import { DUEL_THINGS, modelsHere, problemOf, sideOf, defaultValues } from "./duel-things.ts";

async function openDuel(options: FakeEngineOptions = {}) {
  const panes = openPanes({ answer: () => "It is so.", ...options });
  await panes.control.start();
  const mode = new BatchingModeControl();
  mode.watch(panes.first);
  let nowMs = 0;
  const duel = new Duel({ ...panes.context, mode, now: () => nowMs });
  const pass = async (ms: number, steps: number) => {
    nowMs += ms;
    await panes.step(steps);
  };
  return { ...panes, duel, mode, pass };
}

const seeds: readonly DuelSide[] = [
  { label: "Seed 1", settings: { seed: 1 } },
  { label: "Seed 2", settings: { seed: 2 } },
];

describe("a duel", () => {
  it("asks all sides at once where one engine can do that, and they differ in one thing only", async () => {
    const { duel, first, pass, announcements } = await openDuel();
    const done = duel.start({ question: "Is it?", sides: seeds });
    await settle();
    await pass(500, 3);
    await done;
    const { phase, runs, isTogether } = duel.store.getState();
    expect([phase, isTogether]).toEqual(["done", true]);
    expect(runs.map(({ status, elapsedMs, tokens }) => [status, elapsedMs, tokens])).toEqual([
      ["done", 500, 3],
      ["done", 500, 3],
    ]);
    expect(runs.map(({ pane }) => pane.store.getState().turns.at(-1)?.answer)).toEqual(["It is so.", "It is so."]);
    const [one, other] = first.accepted.map((body) => ({ ...body, request_id: null }));
    expect(one).toMatchObject({ seed: 1, max_tokens: 128, messages: [{ role: "user", content: "Is it?" }] });
    expect({ ...one, seed: 2 }).toEqual(other);
    expect(announcements.store.getState().map(({ text }) => text)).toEqual(["The duel has ended."]);
  });

  it("tries batching modes one after the other, each on four answers, and restores the mode", async () => {
    const { duel, mode, first, pass } = await openDuel();
    mode.choose("static");
    const sides: DuelSide[] = [
      { label: "Continuous", mode: "continuous" },
      { label: "Sequential", mode: "sequential" },
    ];
    const done = duel.start({ question: "Is it?", sides });
    await settle();
    expect(duel.store.getState().runs.map(({ status }) => status)).toEqual(["loading", "waiting"]);
    await pass(1000, 3); // the warm-up is not measured
    await pass(100, 3);
    expect(duel.store.getState().runs.map(({ status }) => status)).toEqual(["done", "loading"]);
    expect(mode.held.getState()).toBe(true);
    await pass(1000, 3);
    await pass(400, 12);
    await done;
    expect(duel.store.getState()).toMatchObject({ phase: "done", isTogether: false });
    expect(duel.store.getState().runs.map(({ elapsedMs, tokens }) => [elapsedMs, tokens])).toEqual([
      [100, 12],
      [400, 12],
    ]);
    const modes = first.updates.map(({ batchingMode }) => batchingMode);
    expect(modes).toEqual(["static", "continuous", "sequential", "static"]);
    expect(first.accepted.map(({ seed }) => seed).toSorted()).toEqual([1, 1, 1, 1, 2, 2, 3, 3, 4, 4]);
    expect(mode.held.getState()).toBe(false);
  });

  it("starts the engine for each model, and again as it was", async () => {
    const { duel, control, step } = await openDuel();
    const switches = vi.spyOn(control, "switchTo");
    const before = control.choice.getState();
    const sides: DuelSide[] = [
      { label: "f16", choice: { model: "fake", dtype: "f16" } },
      { label: "q4", choice: { model: "fake", dtype: "q4" } },
    ];
    const done = duel.start({ question: "Is it?", sides });
    for (let i = 0; i < 16; i++) {
      // oxlint-disable-next-line no-await-in-loop -- steps follow one another
      await settle();
      const state = control.store.getState();
      if (state.status === "ready") (state.engine as unknown as { step: () => void }).step();
      // oxlint-disable-next-line no-await-in-loop
      await step();
    }
    await done;
    expect(duel.store.getState().runs.map(({ status }) => status)).toEqual(["done", "done"]);
    expect(switches.mock.calls.map(([choice]) => choice.dtype ?? "none")).toEqual(["f16", "q4", "none"]);
    expect(control.choice.getState()).toBe(before);
  });

  it("says which side failed, and leaves the engine as it was", async () => {
    const { duel, control } = await openDuel();
    const before = control.choice.getState();
    const error = { code: "model_not_found", message: "There is none.", param: null } as const;
    vi.spyOn(control, "switchTo").mockImplementation(async (choice) => (choice.dtype ? error : null));
    const sides: DuelSide[] = [
      { label: "a", choice: { model: "fake", dtype: "q8" } },
      { label: "b", choice: { model: "fake", dtype: "q4" } },
    ];
    await duel.start({ question: "Is it?", sides });
    expect(duel.store.getState()).toMatchObject({ phase: "failed", message: "There is none." });
    expect(duel.store.getState().runs.map(({ status }) => status)).toEqual(["failed", "failed"]);
    expect(control.choice.getState()).toBe(before);
  });

  it("can be closed at any time: nothing runs on", async () => {
    const { duel, first, mode, pass } = await openDuel();
    void duel.start({
      question: "Is it?",
      sides: [
        { label: "a", mode: "sequential" },
        { label: "b", mode: "static" },
      ],
    });
    await pass(100, 1);
    await duel.close();
    await settle();
    expect(duel.store.getState()).toMatchObject({ phase: "closed", runs: [] });
    expect((await first.stats()).num_requests_running).toBe(0);
    expect([mode.store.getState(), mode.held.getState()]).toEqual(["continuous", false]);
  });

  it("is closed at once, also where the engine takes long to load the model before", async () => {
    const { duel, control } = await openDuel();
    let load = () => {};
    const loaded = new Promise<null>((resolve) => {
      load = () => resolve(null);
    });
    const switches = vi.spyOn(control, "switchTo").mockReturnValue(loaded);
    vi.spyOn(control.choice, "getState").mockReturnValueOnce({ model: "before" });
    const sides = [{ label: "a", choice: { model: "fake", dtype: "f16" } }] as const;
    void duel.start({ question: "Is it?", sides });
    await settle();
    const closing = duel.close();
    expect(duel.store.getState()).toMatchObject({ phase: "closed", runs: [] });
    load();
    await closing;
    expect(switches.mock.calls.map(([choice]) => choice.model)).toEqual(["fake", "before"]);
  });
});

describe("a duel whose question is sent elsewhere", () => {
  it("goes on until the answer from there has ended", async () => {
    const { duel, book, connections, first, pass } = await openDuel();
    vi.spyOn(book, "expectedWaitS").mockReturnValue(60);
    vi.spyOn(connections, "open").mockResolvedValue(first);
    connections.spillTo({ baseUrl: "http://h.example/v1", model: "m", limitS: 1 });
    const done = duel.start({ question: "Is it?", sides: seeds });
    await settle();
    expect(duel.store.getState().runs.map(({ status }) => status)).toEqual(["running", "running"]);
    await pass(500, 3);
    await done;
    expect(duel.store.getState()).toMatchObject({ phase: "done", message: "" });
  });
});

describe("what sides can differ in", () => {
  const models = [{ model: "models/a/" }, { model: "owner/b" }];
  const remotes = [{ baseUrl: "http://h.example/v1", model: "m" }];
  const choices = { choice: { model: "models/a/" }, models, remotes, isShared: false };
  const listed = { isEmbedded: true, stored: null };

  it.each(DUEL_THINGS)("%s: two different sides from the start", (thing) => {
    const values = defaultValues(thing, choices);
    expect(problemOf(thing, values, choices)).toBeNull();
    expect(values.map((value) => sideOf(thing, value, choices)?.label)).not.toContain(undefined);
  });

  it.each([
    ["seed", ["1", "x"], /whole number/],
    ["seed", ["1", ""], /whole number/],
    ["seed", ["1", " 1"], /different/],
    ["temperature", ["1", "3"], /from 0 to 2/],
    ["answerer", ["", ""], /different/],
  ] as const)("%s can't be %j", (thing, values, problem) => {
    expect(problemOf(thing, values, choices)).toMatch(problem);
  });

  it("models: files that the page runs are one of them", () => {
    const files = { model: [new File([], "model.safetensors")] };
    const one = {
      ...choices,
      choice: files,
      models: modelsHere(files, [{ ...listed, choice: { model: "models/a/" } }]),
    };
    expect(defaultValues("model", one)).toEqual(["files", "models/a/"]);
    expect(problemOf("model", ["files", "models/a/"], one)).toBeNull();
    expect(sideOf("model", "files", one)).toEqual({ label: "your files", choice: files });
  });

  it("models: those in this browser, the page's own once", () => {
    const page = { model: "models/a/" };
    const shelf = [
      { ...listed, choice: page },
      { isEmbedded: false, stored: null, choice: { model: "owner/b" } },
    ];
    expect(modelsHere(page, shelf)).toEqual([page]);
    expect(modelsHere({ model: "owner/b" }, shelf)).toEqual([{ model: "owner/b" }, page]);
  });

  it.each(DUEL_THINGS.filter((thing) => thing !== "answerer"))(
    "%s: does not start other tabs' engine again",
    (thing) => {
      const problem = problemOf(thing, defaultValues(thing, choices), { ...choices, isShared: true });
      if (thing === "model" || thing === "dtype") expect(problem).toMatch(/^Tabs share one engine/);
      else expect(problem).toBeNull();
    },
  );

  it("names each side, and says what it takes", () => {
    expect(sideOf("dtype", "q4", choices)).toEqual({ label: "a in q4", choice: { model: "models/a/", dtype: "q4" } });
    expect(sideOf("mode", "static", choices)).toEqual({ label: "Static batching", mode: "static" });
    expect(sideOf("answerer", "http://h.example/v1 m", choices)).toEqual({
      label: "m at h.example",
      answerer: { baseUrl: "http://h.example/v1", model: "m" },
    });
  });
});
