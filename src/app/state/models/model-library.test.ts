import { expect, it } from "vitest";
import type { CreateEngineOptions } from "../../../protocol/engine.ts";
import { ChorusError } from "../../../protocol/errors.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { FakeModels } from "../../../../tests/app/fake-models.ts";
import { settle } from "../../../../tests/app/open-panes.ts";
import { EngineControl } from "../engine/engine-control.ts";
import type { ModelChoice } from "./model-choice.ts";
import { ModelLibrary } from "./model-library.ts";

const LARGE = "openai-community/gpt2-large";

async function setUp(fails: (options: CreateEngineOptions) => boolean = () => false) {
  const started: CreateEngineOptions[] = [];
  const scheduleFlush = (flush: () => void) => flush();
  const engine = new EngineControl({
    createEngine: async (options) => {
      started.push(options);
      if (fails(options)) throw new ChorusError("model_invalid", "model.safetensors is cut off.");
      return new FakeEngine();
    },
    choice: { model: "models/chorus-chat/" },
    scheduleFlush,
    now: () => 0,
  });
  const models = new FakeModels();
  const chosen: ModelChoice[] = [];
  const said: string[] = [];
  const announce = (text: string) => void said.push(text);
  const library = new ModelLibrary({
    models,
    engine,
    scheduleFlush,
    announce,
    onChosen: (choice) => chosen.push(choice),
  });
  await engine.start();
  const find = (name: string) => {
    const found = library.store.getState().models.find(({ choice }) => choice.model === name);
    if (!found) throw new Error(`${name} is not in the list.`);
    return found;
  };
  return { engine, models, library, find, started, chosen, said };
}

it("has the embedded model, then what was brought, then the catalogue, and keeps the order", async () => {
  const { library, models } = await setUp();
  const titles = () => library.store.getState().models.map(({ title }) => title);
  expect(titles().slice(0, 2)).toEqual(["chorus-chat", "SmolLM2 135M Instruct"]);
  library.add("me/mine");
  expect(titles().slice(0, 3)).toEqual(["chorus-chat", "mine", "SmolLM2 135M Instruct"]);
  await settle();
  void library.download(library.store.getState().models[1]!.key);
  models.receive(Infinity);
  await settle();
  expect(titles().slice(0, 3)).toEqual(["chorus-chat", "mine", "SmolLM2 135M Instruct"]);
});

it("offers a model of the catalogue as GGUF, and as safetensors where those are there", async () => {
  const { library, models } = await setUp();
  const offered = () => library.store.getState().models.flatMap(({ about, choice }) => (about ? [choice.model] : []));
  const [gguf, safetensors] = ["bartowski/SmolLM2-135M-Instruct-GGUF:Q4_K_M", "HuggingFaceTB/SmolLM2-135M-Instruct"];
  expect([offered()[0], library.recommended?.model]).toEqual([gguf, safetensors]);
  const key = library.add(safetensors) ?? "";
  expect(offered()[0]).toBe(gguf);
  void library.download(key);
  models.receive(Infinity);
  await settle();
  const { length } = library.store.getState().models;
  expect([offered()[0], library.store.getState().models[1]]).toMatchObject([
    safetensors,
    { stored: { status: "whole" } },
  ]);
  library.add(gguf);
  expect([offered()[0], library.store.getState().models.length]).toEqual([safetensors, length + 1]);
});

it("has models of one name by their whole names, each its own", async () => {
  const { library } = await setUp();
  for (const name of ["me/mine", "you/mine", "me/other"]) library.add(name);
  for (const hub of [{ revision: "v2" }, { hubUrl: "https://mirror.example" }]) library.add("me/mine", hub);
  expect(
    library.store
      .getState()
      .models.slice(1, 6)
      .map(({ title }) => title),
  ).toEqual(["https://mirror.example me/mine", "me/mine v2", "other", "you/mine", "me/mine"]);
});

it("knows a model of a mirror again when it is there, however its address was written", async () => {
  const { library, models } = await setUp();
  void library.download(library.add("me/mine", { hubUrl: "https://mirror.example/hub/" })!);
  models.receive(Infinity);
  await settle();
  expect(library.store.getState().models.filter(({ title }) => title === "mine")).toMatchObject([
    { choice: { hubUrl: "https://mirror.example/hub" }, stored: { status: "whole" } },
  ]);
});

it.each([
  ["me/mine-GGUF:Q4_K_M", "mine-GGUF:Q4_K_M"],
  ["me/mine-GGUF/deep/mine-Q8_0.gguf", "mine-Q8_0.gguf"],
  ["https://models.example/mine.gguf", "mine.gguf"],
])("keeps which GGUF file was meant, loads it and deletes it: %s", async (name, title) => {
  const { library, models, find, started } = await setUp();
  const key = library.add(name)!;
  void library.download(key);
  models.receive(Infinity);
  await settle();
  expect(find(name)).toMatchObject({ key, title, stored: { model: name, status: "whole" } });
  expect(await library.use(key)).toBe(true);
  expect(started.at(-1)).toMatchObject({ model: name });
  await library.remove(key);
  expect(await models.list()).toEqual([]);
});

it("pauses a download, goes on where it stopped, and tells when it is there", async () => {
  const { library, models, find, said } = await setUp();
  const { key } = find(LARGE);
  const paused = library.download(key);
  models.receive(100e6);
  expect(find(LARGE)).toMatchObject({ isDownloading: true, progress: { receivedBytes: 100e6 } });
  void library.pause(key);
  await paused;
  expect(find(LARGE)).toMatchObject({ isDownloading: false, error: null, stored: { status: "partial" } });

  const resumed = library.download(key);
  models.receive(150e6);
  await resumed;
  expect(find(LARGE)).toMatchObject({ isDownloading: false, stored: { status: "whole" } });
  expect(said).toEqual(["GPT-2 large (774M) was downloaded."]);
});

it("deletes what has come of a download that is cancelled", async () => {
  const { library, models, find } = await setUp();
  const { key } = find(LARGE);
  const download = library.download(key);
  models.receive(100e6);
  await library.remove(key);
  await download;
  expect(find(LARGE)).toMatchObject({ stored: null, isDownloading: false, error: null });
});

it("looks an added model up before anybody downloads it, the newest first", async () => {
  const { library, models, find } = await setUp();
  library.add("me/first");
  library.add("me/second");
  await settle();
  expect(find("me/second")).toMatchObject({ isDownloading: false, stored: null, estimate: { problem: null } });
  expect(
    library.store
      .getState()
      .models.slice(1, 3)
      .map(({ title }) => title),
  ).toEqual(["second", "first"]);
  expect(await models.list()).toEqual([]);
});

it("has one message for what can't be added, the newest, and no row", async () => {
  const { library } = await setUp();
  const { models } = library.store.getState();
  const found: string[] = [];
  for (const name of ["me/missing", "me/mine", "me/missing-too"]) library.add(name, {}, () => found.push(name));
  expect(found).toEqual([]);
  await settle();
  expect(found).toEqual(["me/mine"]);
  expect(library.store.getState().models).toHaveLength(models.length + 1);
  expect(library.store.getState().error).toMatchObject({ message: expect.stringContaining("me/missing-too") });
  expect(library.add("me/mine", { revision: "no such" })).toBeNull();
  expect(library.store.getState().error).toMatchObject({ param: "revision" });
});

it("says why a download failed", async () => {
  const { library, models, find } = await setUp();
  models.estimate = () => new Promise(() => {});
  await library.download(library.add("me/missing")!);
  expect(find("me/missing")).toMatchObject({ isDownloading: false, error: { code: "model_not_found" } });
});

it("asks what a model takes as the dtype that is chosen", async () => {
  const { library, find } = await setUp();
  const { key } = find(LARGE);
  library.setDtype(key, "f32");
  await settle();
  expect(find(LARGE).estimate?.problem?.param).toBe("dtype");
  library.setDtype(key, "q4");
  await settle();
  expect(find(LARGE).estimate).toMatchObject({ dtype: "q4", problem: null });
});

it("drops a dtype that the model's weights can't have", async () => {
  const { library, find } = await setUp();
  const key = library.add("owner/name-GGUF:Q4_K_M") ?? "";
  library.setDtype(key, "q8");
  await settle();
  expect(find("owner/name-GGUF:Q4_K_M")).toMatchObject({
    dtype: null,
    estimateError: null,
    estimate: { dtype: "stored" },
  });
});

it("where a listed model can't be looked up, says so beside its details: nobody asked for a download", async () => {
  const { library, models, find } = await setUp();
  models.estimate = () => Promise.reject(new ChorusError("model_download_failed", "No network.", "model"));
  await library.estimate(find(LARGE).key);
  expect(find(LARGE)).toMatchObject({
    isEstimating: false,
    estimateError: { code: "model_download_failed" },
    error: null,
  });
});

it("leaves the dtype to the engine where none is chosen", async () => {
  const { library, find, chosen } = await setUp();
  expect(await library.use(find(LARGE).key)).toBe(true);
  expect(chosen).toEqual([{ model: LARGE }]);
});

it("has the engine run the model that is chosen, and tells of it", async () => {
  const { library, engine, find, started, chosen } = await setUp();
  library.setDtype(find(LARGE).key, "q8");
  expect(await library.use(find(LARGE).key)).toBe(true);
  expect(started.at(-1)).toMatchObject({ model: LARGE, dtype: "q8" });
  expect(chosen).toEqual([{ model: LARGE, dtype: "q8" }]);
  expect(engine.store.getState().status).toBe("ready");
});

it("goes back to the model before where another can't be loaded", async () => {
  const { library, engine, find, started, chosen } = await setUp(({ model }) => model === LARGE);
  expect(await library.use(find(LARGE).key)).toBe(false);
  expect(started.map(({ model }) => model)).toEqual(["models/chorus-chat/", LARGE, "models/chorus-chat/"]);
  expect(engine.store.getState().status).toBe("ready");
  expect(engine.chosen.getState().model).toEqual({ model: "models/chorus-chat/" });
  expect(find(LARGE).error).toMatchObject({ code: "model_invalid" });
  expect(chosen).toEqual([]);
});

it("of two models chosen quickly, the first runs where the second can't be loaded, and is the chosen one", async () => {
  const { library, engine, find, chosen, said } = await setUp(({ model }) => model === LARGE);
  const small = "bartowski/SmolLM2-135M-Instruct-GGUF:Q4_K_M";
  const used = library.use(find(small).key);
  expect(await library.use(find(LARGE).key)).toBe(false);
  expect(await used).toBe(true);
  expect(engine.chosen.getState().model.model).toBe(small);
  expect(chosen).toMatchObject([{ model: small }]);
  expect(said).toEqual(["SmolLM2-135M-Instruct-GGUF:Q4_K_M runs."]);
  expect(find(LARGE).error).toMatchObject({ code: "model_invalid" });
});

it("says of a model that another one replaces that it isn't used, and not that it failed", async () => {
  const { library, engine, find } = await setUp();
  const [first, second] = library.store.getState().models.slice(1);
  expect(await Promise.all([first, second].map((model) => library.use(model!.key)))).toEqual([false, true]);
  expect(engine.chosen.getState().model.model).toBe(second!.choice.model);
  expect(find(first!.choice.model).error).toBeNull();
});

it("runs files of this computer, and says what is wrong with them", async () => {
  const { library, chosen } = await setUp(({ model }) => Array.isArray(model) && model.length < 2);
  expect(await library.useFiles([new File([], "config.json")])).toBe(false);
  expect(library.store.getState()).toMatchObject({ error: { code: "model_invalid" }, switchingTo: null });
  const files = [new File([], "config.json"), new File([], "model.safetensors")];
  expect(await library.useFiles(files)).toBe(true);
  expect(chosen).toEqual([{ model: files }]);
});
