// Under "auto" every way in which a GPU can fail leads to the CPU, which says why. What was found out is remembered.

import { afterEach, expect, test, vi } from "vitest";

import { webGpuBackend } from "../backends/gpu/webgpu-backend.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { ChorusError, toErrorData } from "../protocol/errors.ts";
import type { ModelCard } from "../protocol/reports.ts";
import { FakeBackend } from "../../tests/fakes/fake-backend.ts";
import { fakePlatform } from "../../tests/fakes/fake-platform.ts";
import { modelFiles } from "../../tests/models/model-folders.ts";
import type { EngineMessage } from "../protocol/service.ts";
import { EngineHost } from "./engine-host.ts";
import { memoryTuningStore } from "./platforms/tuning-store.ts";
import type { Platform } from "./platforms/platform.ts";

const LOCATION = {
  type: "files",
  files: [...modelFiles()].map(([name, bytes]) => new File([bytes.slice()], name)),
} as const;

const never = <T>(): Promise<T> => new Promise(() => undefined);

/** A WebGPU that fails, or an adapter that does. */
const gpuOf = (requestAdapter: () => Promise<unknown>) => ({ requestAdapter }) as unknown as GPU;
const adapterOf = (requestDevice: () => Promise<unknown>) =>
  gpuOf(async () => ({ features: new Set(), limits: {}, info: { description: "Adreno" }, requestDevice }));

/** Loads as a page does that begins. Resolves to the card, or to the error's code and message. */
async function load(
  gpu: FakeBackend | GPU | undefined,
  config: EngineConfig = { backend: "auto" },
  more: Partial<Platform> = {},
  cpu = new FakeBackend("cpu", "Fake CPU"),
): Promise<ModelCard | { code: string; message: string }> {
  const platform = fakePlatform([cpu], more);
  const offered =
    gpu instanceof FakeBackend ? gpu.offered : { name: "webgpu" as const, load: async () => webGpuBackend(gpu) };
  const host = new EngineHost({ ...platform, backends: [offered, ...platform.backends] });
  const nothing = () => undefined;
  return host.load(LOCATION, config, nothing, nothing).then(({ model }) => model, toErrorData);
}

/** A GPU on which loading fails in some way. */
function failing(onLoad: FakeBackend["onLoad"], name = "Adreno"): FakeBackend {
  const gpu = new FakeBackend("webgpu", name);
  gpu.onLoad = onLoad;
  return gpu;
}

afterEach(() => void vi.useRealTimers());

test("a GPU that fails with a model is passed over, and the CPU says why", async () => {
  const errors = [
    new ChorusError("kernel_refused", "norm.wgsl: no."),
    new TypeError("createShaderModule: boom"),
    new ChorusError("out_of_memory", "The GPU is full."),
    new ChorusError("model_unsupported", "Heads of 512 values."),
    new ChorusError("wrong_answers", "It computes wrong answers."),
  ];
  const failed = (error: Error) =>
    failing(() => {
      throw error;
    });
  const notices = errors.map(({ message }) => expect.stringContaining(message) as string);
  const auto = await Promise.all(errors.map((error) => load(failed(error))));
  expect(auto).toMatchObject(notices.map((notice) => ({ backend: "cpu", notice })));
  const requested = await Promise.all(errors.map((error) => load(failed(error), { backend: "webgpu" })));
  expect(requested).toMatchObject(notices.map((message) => ({ message })));
});

test("a GPU that refuses a command of a step is given up, and the answer goes on", async () => {
  const gpu = new FakeBackend("webgpu", "Adreno");
  const cpu = new FakeBackend("cpu", "Fake CPU");
  const messages: EngineMessage[] = [];
  const host = new EngineHost(fakePlatform([gpu, cpu]));
  await host.load(
    LOCATION,
    { backend: "auto" },
    (message) => void messages.push(message),
    () => undefined,
  );
  host.submit(1, { endpoint: "completions", body: { prompt: [1, 2, 3], max_tokens: 8, ignore_eos: true } });
  gpu.device.fail(new ChorusError("internal_error", "The GPU refused a command."));
  await expect.poll(() => messages.flatMap(({ events }) => events).map(({ type }) => type)).toEqual(["response"]);
  expect(messages.flatMap(({ devices }) => devices).at(-1)).toMatchObject({ status: "replaced", adapter: "Fake CPU" });
  expect(messages.flatMap(({ fatal }) => fatal ?? [])).toEqual([]);
  host.dispose();
});

test("a backend that takes over in mid-run multiplies as the first one did", async () => {
  const gpu = new FakeBackend("webgpu", "Adreno");
  const cpu = new FakeBackend("cpu", "Fake CPU");
  cpu.defaults = { activationDtype: "int8" };
  const loaded: string[] = [];
  cpu.onLoad = (_, { engine }) => void loaded.push(engine.activationDtype);
  const host = new EngineHost(fakePlatform([gpu, cpu]));
  const config = { backend: "auto", dtype: "q8" } as const;
  await host.load(
    LOCATION,
    config,
    () => undefined,
    () => undefined,
  );
  gpu.device.fail(new ChorusError("internal_error", "The GPU refused a command."));
  await expect.poll(() => loaded).toEqual(["f32"]);
  host.dispose();
});

test("a model that is at fault costs no second attempt", async () => {
  const gpu = failing(() => Promise.reject(new ChorusError("model_invalid", "Cut off.")));
  expect(await load(gpu)).toEqual({ code: "model_invalid", message: "Cut off.", param: null });
});

test("an adapter that gives no device is passed over, and said; one that isn't there is no fault", async () => {
  const denied = adapterOf(() => Promise.reject(new Error("the driver said no")));
  const notice = expect.stringContaining("Adreno gives no device: the driver said no") as string;
  expect(await load(denied)).toMatchObject({ backend: "cpu", notice });
  expect(await load(denied, { backend: "webgpu" })).toMatchObject({ code: "webgpu_unavailable", message: notice });
  expect(await load(gpuOf(async () => null))).toMatchObject({ backend: "cpu", notice: null });
  expect(await load(undefined)).toMatchObject({ backend: "cpu", notice: null });
});

test("an adapter that never answers is waited for 15 seconds, and briefly at the next start", async () => {
  const tuning = memoryTuningStore();
  const cpu = new FakeBackend("cpu", "Fake CPU");
  const start = (backend: "auto" | "webgpu") => load(gpuOf(never), { backend }, { tuning }, cpu);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const notice = expect.stringContaining("no graphics adapter within 15 seconds") as string;

  const first = start("auto");
  await vi.advanceTimersByTimeAsync(14_900);
  expect(cpu.devices).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(200);
  expect(cpu.devices).toHaveLength(1);

  const second = start("auto");
  await vi.advanceTimersByTimeAsync(2100);
  expect(cpu.devices).toHaveLength(2);

  const requested = start("webgpu");
  await vi.advanceTimersByTimeAsync(15_100);
  expect(await requested).toMatchObject({ code: "webgpu_unavailable", message: notice });
  vi.useRealTimers();
  expect(await first).toMatchObject({ backend: "cpu", notice });
  expect(await second).toMatchObject({ backend: "cpu", notice });
});

test("a GPU that is lost at every attempt is remembered, until the browser changes or somebody asks for it", async () => {
  const tuning = memoryTuningStore();
  const at = (runtime: string, gpu: FakeBackend, backend: "auto" | "webgpu" = "auto") =>
    load(gpu, { backend }, { tuning, runtime });
  const losing = () => failing((device) => device.lose());
  const notice = expect.stringContaining("lost 3 times") as string;

  const first = losing();
  expect(await at("Browser 1", first)).toMatchObject({ backend: "cpu", notice });
  expect(first.devices).toHaveLength(3);

  const well = failing(() => undefined);
  expect(await at("Browser 1", well)).toMatchObject({
    backend: "cpu",
    notice: expect.stringMatching(/lost 3 times.* not tried again until/) as string,
  });
  expect(well.devices).toMatchObject([{ isClosed: true }]);
  expect(
    await at(
      "Browser 1",
      failing(() => undefined, "Mali"),
    ),
  ).toMatchObject({ backend: "webgpu", notice: null });
  expect(await at("Browser 2", well)).toMatchObject({ backend: "webgpu", notice: null });

  expect(await at("Browser 1", well, "webgpu")).toMatchObject({ backend: "webgpu", notice: null });
  expect(await at("Browser 1", well)).toMatchObject({ backend: "webgpu", notice: null });
});

test("a GPU that failed before is better than nothing", async () => {
  const tuning = memoryTuningStore();
  await load(
    failing((device) => device.lose()),
    { backend: "auto" },
    { tuning },
  );
  const host = new EngineHost(fakePlatform([failing(() => undefined)], { tuning }));
  const loaded = await host.load(
    LOCATION,
    { backend: "auto" },
    () => undefined,
    () => undefined,
  );
  expect(loaded).toMatchObject({ model: { backend: "webgpu" } });
});

test("where the CPU fails too, the error says what was wrong with the GPU", async () => {
  const cpu = new FakeBackend("cpu", "Fake CPU");
  cpu.onLoad = () => Promise.reject(new ChorusError("out_of_memory", "The CPU is full."));
  const gpu = failing(() => Promise.reject(new ChorusError("kernel_refused", "norm.wgsl: no.")));
  const host = new EngineHost(fakePlatform([gpu, cpu]));
  const result = host.load(
    LOCATION,
    { backend: "auto" },
    () => undefined,
    () => undefined,
  );
  await expect(result).rejects.toMatchObject({
    code: "out_of_memory",
    message: expect.stringMatching(/CPU is full.*norm\.wgsl: no\./) as string,
  });
});

test("a store of measurements that can't be used costs nothing", async () => {
  const broken = { load: () => Promise.reject(new Error("denied")), save: () => Promise.reject(new Error("denied")) };
  const gpu = failing((device) => device.lose());
  expect(await load(gpu, { backend: "auto" }, { tuning: broken })).toMatchObject({ backend: "cpu" });
});
