// The host brings a lost device back, and nobody outside sees more than a pause.

import { afterEach, expect, test, vi } from "vitest";

import { weightsOf, type Weight } from "../models/graph.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { LoadProgress, LoadStage } from "../protocol/reports.ts";
import { isFinal, type EngineMessage, type RequestEvent } from "../protocol/service.ts";
import { FakeBackend, type FakeDevice } from "../../tests/fakes/fake-backend.ts";
import { fakePlatform } from "../../tests/fakes/fake-platform.ts";
import { modelFiles } from "../../tests/models/model-folders.ts";
import { EngineHost } from "./engine-host.ts";
import { ModelLoader } from "./loading/model-loader.ts";
import { ModelOrigin } from "./loading/model-origin.ts";
import type { Platform } from "./platforms/platform.ts";

const LOCATION = {
  type: "files",
  files: [...modelFiles()].map(([name, bytes]) => new File([bytes.slice()], name)),
} as const;

class TestBench {
  readonly gpu = new FakeBackend("webgpu", "Fake GPU");
  readonly platform: Platform;
  readonly messages: EngineMessage[] = [];
  readonly stages: LoadStage[] = [];
  readonly host: EngineHost;
  nowMs = 0;

  constructor(...others: FakeBackend[]) {
    this.platform = fakePlatform([this.gpu, ...others], { now: () => this.nowMs + performance.now() });
    this.host = new EngineHost(this.platform);
  }

  async load(config = {}) {
    const post = (message: EngineMessage) => void this.messages.push(message);
    const notify = ({ stage }: LoadProgress) => void this.stages.push(stage);
    return this.host.load(LOCATION, { seed: 1, maxNumBatchedTokens: 16, ...config }, post, notify);
  }

  loader(config = {}): ModelLoader {
    return new ModelLoader(
      new ModelOrigin(LOCATION, this.platform),
      config,
      this.platform,
      async (ms) => void (this.nowMs += ms),
    );
  }

  ask(ticket: number): void {
    const prompt = Array.from({ length: 5 + 4 * ticket }, (_, i) => (i * 7 + ticket) % 500);
    const body = { prompt, max_tokens: 48, ignore_eos: true, return_token_ids: true, seed: ticket, logprobs: 2 };
    this.host.submit(ticket, { endpoint: "completions", body: { ...body, stream: ticket % 2 === 0 } });
  }

  eventsOf(ticket: number): RequestEvent[] {
    return this.messages.flatMap(({ events }) => events).filter((event) => event.ticket === ticket);
  }

  /** All choices that a ticket's reader has got, once it has got its last event. */
  async answer(ticket: number): Promise<unknown[]> {
    for (;;) {
      const events = this.eventsOf(ticket);
      const ends = events.filter(isFinal);
      if (ends.length > 1) throw new Error(`ticket ${ticket} ended ${ends.length} times`);
      if (ends[0]?.type === "error") throw new ChorusError(ends[0].error.code, ends[0].error.message);
      if (ends.length === 1) {
        return events.flatMap((event): readonly unknown[] => {
          if (event.type === "chunk") return event.chunk.choices;
          return event.type === "response" ? event.response.choices : [];
        });
      }
      await turn();
    }
  }

  get devices() {
    return this.messages.flatMap(({ devices }) => devices).map(({ status, adapter }) => [status, adapter]);
  }

  get fatal() {
    return this.messages.flatMap(({ fatal }) => fatal ?? []);
  }
}

afterEach(() => void vi.useRealTimers());

const turn = () => new Promise((resolve) => setImmediate(resolve));
const TICKETS = [1, 2, 3, 4];

async function answersWith(disturb: (bench: TestBench) => Promise<void>) {
  const bench = new TestBench();
  await bench.load();
  for (const ticket of TICKETS) bench.ask(ticket);
  await disturb(bench);
  const answers = await Promise.all(TICKETS.map((ticket) => bench.answer(ticket)));
  return { bench, answers };
}

test.each([true, false])("answers go on with the same bits after losses (said by the device: %s)", async (isSaid) => {
  const { answers: undisturbed } = await answersWith(async () => undefined);
  const { answers, bench } = await answersWith(async (disturbed) => {
    disturbed.host.requestReports("kernels", true);
    for (let losses = 1; losses <= 2; losses++) {
      const before = disturbed.messages.length;
      while (disturbed.messages.length < before + 5) await turn();
      const lost = disturbed.gpu.device;
      lost.lose({ isSaid });
      while (disturbed.devices.length < 2 * losses) await turn();
      expect(lost.isClosed).toBe(true);
    }
  });
  expect(answers).toEqual(undisturbed);
  const lostAndReplaced = [
    ["lost", "Fake GPU"],
    ["replaced", "Fake GPU"],
  ];
  expect(bench.devices).toEqual([...lostAndReplaced, ...lostAndReplaced]);
  // The new device's kernels are timed, too.
  const replacedAt = bench.messages.findLastIndex(({ devices }) => devices.length > 0);
  expect(bench.messages.slice(replacedAt).flatMap(({ kernels }) => kernels)).not.toEqual([]);
  expect(bench.host.stats().device_losses_total).toBe(2);
  expect(bench.host.metrics()).toMatch(/^chorus:device_losses_total\{.*\} 2$/m);
  expect(bench.fatal).toEqual([]);
});

test("a step that never ends costs its device, and no answer", async () => {
  const { answers: undisturbed } = await answersWith(async () => undefined);
  const bench = new TestBench();
  await bench.load();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  bench.gpu.device.numStepsLeft = 8;
  for (const ticket of TICKETS) bench.ask(ticket);
  const answers = Promise.all(TICKETS.map((ticket) => bench.answer(ticket)));
  while (bench.devices.length < 2) await vi.advanceTimersByTimeAsync(200);
  vi.useRealTimers();
  expect(await answers).toEqual(undisturbed);
  expect(bench.host.stats().device_losses_total).toBe(1);
});

const fakeTimers = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
const never = <T>(): Promise<T> => new Promise(() => undefined);

test("loading again that gets stuck is tried on another device", async () => {
  const bench = new TestBench();
  const loader = bench.loader();
  await loader.load(() => undefined);
  fakeTimers();
  bench.gpu.onLoad = () => (bench.gpu.devices.length === 2 ? new Promise(() => undefined) : undefined);
  const reloading = loader.reload(new ChorusError("device_lost", "Gone."));
  while (bench.gpu.devices.length < 3) await vi.advanceTimersByTimeAsync(10_000);
  await vi.advanceTimersByTimeAsync(10);
  expect(await reloading).toBe(loader.loaded);
});

test("a device that gets stuck whenever a model is loaded is given up, at the first load too", async () => {
  const bench = new TestBench();
  fakeTimers();
  bench.gpu.onLoad = never;
  const loading = bench.loader().load(() => undefined);
  const ended = loading.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(241_000);
  expect(await ended).toMatchObject({
    code: "device_lost",
    message: "Fake GPU made no progress for 120 seconds while it loaded the model.",
  });
  expect(bench.gpu.devices).toMatchObject([{ isClosed: true }, { isClosed: true }]);
});

test("reading weights for longer than the limit is no stall, and is told", async () => {
  const bench = new TestBench();
  fakeTimers();
  const bands = 5;
  bench.gpu.onLoad = async (_device, { weights }) => {
    const table = weights.tensor(weightsOf(weights.model.graph)[0] as Weight);
    for (let i = 0; i < bands; i++) {
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      await table.readRows(Math.floor((i * table.rows) / bands), Math.floor(((i + 1) * table.rows) / bands));
    }
  };
  const reported: LoadProgress[] = [];
  const loading = bench.loader().load((progress) => void reported.push(progress));
  await vi.advanceTimersByTimeAsync(301_000);
  vi.useRealTimers();
  await loading;
  expect(bench.gpu.devices).toHaveLength(1);
  const memory = reported.filter(({ stage }) => stage === "memory");
  expect(memory.map(({ done }) => done)).toEqual(memory.map(({ done }) => done).toSorted((a, b) => a - b));
  expect(memory).toHaveLength(bands);
  expect(memory.every(({ done, total }) => done > 0 && done < total)).toBe(true);
});

test("what a stuck load still brings is disposed of, and it reads no more", async () => {
  const bench = new TestBench();
  fakeTimers();
  const late: (() => void)[] = [];
  const read: Promise<unknown>[] = [];
  bench.gpu.onLoad = async (_device, { weights }) => {
    if (late.length === 2) return;
    await new Promise<void>((resolve) => void late.push(resolve));
    const table = weights.tensor(weightsOf(weights.model.graph)[0] as Weight);
    read.push(table.readRows(0, 1).catch((error: unknown) => error));
  };
  const ended = bench
    .loader()
    .load(() => undefined)
    .catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(241_000);
  expect(await ended).toMatchObject({ code: "device_lost" });
  for (const resolve of late) resolve();
  await vi.advanceTimersByTimeAsync(10);
  expect(bench.gpu.devices).toMatchObject([{ isDisposed: true }, { isDisposed: true }]);
  for (const error of await Promise.all(read)) expect(error).toMatchObject({ code: "device_lost" });
  expect(read).toHaveLength(2);
});

test("a CPU that gets stuck once is tried again, and not the GPU that it played and that was passed over", async () => {
  const cpu = new FakeBackend("cpu", "Fake CPU");
  const bench = new TestBench(cpu);
  bench.gpu.isSoftware = true;
  fakeTimers();
  cpu.onLoad = () => (cpu.devices.length === 1 ? never() : undefined);
  const loading = bench.loader({ backend: "auto" }).load(() => undefined);
  await vi.advanceTimersByTimeAsync(121_000);
  vi.useRealTimers();
  expect((await loading).card.backend).toBe("cpu");
  expect(cpu.devices).toHaveLength(2);
});

test("a browser that never opens a device is passed over, and a device that comes too late is closed", async () => {
  const cpu = new FakeBackend("cpu", "CPU");
  const bench = new TestBench(cpu);
  let openLate = (): void => {};
  const open = bench.gpu.open.bind(bench.gpu);
  bench.gpu.open = () => new Promise((resolve) => (openLate = () => resolve(open())));
  fakeTimers();
  const loading = bench.loader({ backend: "auto" }).load(() => undefined);
  await vi.advanceTimersByTimeAsync(16_000);
  vi.useRealTimers();
  expect((await loading).card.backend).toBe("cpu");
  openLate();
  await turn();
  expect(bench.gpu.devices).toMatchObject([{ isClosed: true }]);
});

test("an idle engine notices at once", async () => {
  const bench = new TestBench();
  await bench.load();
  bench.gpu.device.lose();
  while (bench.devices.length < 2) await turn();
  bench.ask(1);
  expect(await bench.answer(1)).not.toEqual([]);
});

test("after three losses in a minute the engine stops and says why, and no sooner", async () => {
  const bench = new TestBench();
  await bench.load();
  const lose = async () => {
    bench.gpu.device.lose();
    const before = bench.messages.length;
    while (bench.messages.length < before + 2) await turn();
  };
  await lose();
  await lose();
  bench.nowMs += 60_000;
  await lose();
  await lose();
  expect(bench.fatal).toEqual([]);
  bench.ask(1);
  await lose();
  expect(bench.fatal).toMatchObject([{ code: "device_lost", message: expect.stringContaining("3 times") as string }]);
  await expect(bench.answer(1)).rejects.toMatchObject({ code: "device_lost" });
  expect(bench.gpu.devices.every(({ isClosed }) => isClosed)).toBe(true);
});

test("after three losses in a minute the next backend goes on, where there is one", async () => {
  const cpu = new FakeBackend("cpu", "Fake CPU");
  const bench = new TestBench(cpu);
  await bench.load();
  bench.ask(1);
  for (let i = 0; i < 3; i++) {
    const lost = bench.gpu.device;
    lost.lose();
    while (bench.gpu.device === lost && cpu.devices.length === 0) await turn();
    await turn();
  }
  expect(await bench.answer(1)).not.toEqual([]);
  expect(bench.devices.at(-1)).toEqual(["replaced", "Fake CPU"]);
  expect(bench.fatal).toEqual([]);
});

test("a GPU that is lost in each load is passed over after three, however long they take", async () => {
  const cpu = new FakeBackend("cpu", "Fake CPU");
  const bench = new TestBench(cpu);
  bench.gpu.onLoad = async (device) => {
    bench.nowMs += 40_000;
    device.lose();
    throw new ChorusError("device_lost", "Gone.");
  };
  const notice = expect.stringContaining("3 times while the model was loaded") as string;
  expect(await bench.load()).toMatchObject({ model: { adapter: "Fake CPU", notice } });
  expect(bench.gpu.devices).toHaveLength(3);
});

test("a GPU whose answers are wrong is passed over for the next backend, which says so", async () => {
  const cpu = new FakeBackend("cpu", "Fake CPU");
  const bench = new TestBench(cpu);
  bench.gpu.onLoad = () => Promise.reject(new ChorusError("wrong_answers", "It computes wrong answers."));
  const notice = "It computes wrong answers.";
  expect(await bench.load()).toMatchObject({ model: { adapter: "Fake CPU", notice } });
  expect(bench.gpu.devices.map(({ isClosed }) => isClosed)).toEqual([true]);
  expect(await new TestBench().load()).toMatchObject({ model: { notice: null } });
  const alone = new TestBench();
  alone.gpu.onLoad = bench.gpu.onLoad;
  await expect(alone.load()).rejects.toMatchObject({ code: "wrong_answers" });
});

test("a device that comes back after some seconds is waited for, and one that does not is given up", async () => {
  const bench = new TestBench();
  const loader = bench.loader();
  await loader.load(() => undefined);
  const loss = new ChorusError("device_lost", "Gone.");
  bench.gpu.numMissing = 5;
  await loader.reload(loss);
  expect(bench.nowMs).toBeGreaterThan(3000);
  bench.gpu.numMissing = Infinity;
  await expect(loader.reload(loss)).rejects.toMatchObject({
    code: "device_lost",
    message: expect.stringContaining("no other one came") as string,
  });
  expect(bench.nowMs).toBeGreaterThan(10_000);
  expect(bench.nowMs).toBeLessThan(30_000);
});

test.each([true, false])("a device lost while a model is loaded costs a second attempt (said: %s)", async (isSaid) => {
  const bench = new TestBench();
  let last: FakeDevice | undefined;
  bench.gpu.onLoad = (device) => {
    if (bench.gpu.devices.length > 2) return;
    device.lose({ isSaid: false });
    // The errors of calls come before the device says that it is lost.
    setTimeout(() => device.lose({ isSaid: true }), isSaid ? 0 : 50);
    last = device;
  };
  expect(await bench.load()).toMatchObject({ model: { adapter: "Fake GPU" } });
  expect(bench.gpu.devices).toHaveLength(3);
  expect(last?.isClosed).toBe(true);
  expect(bench.stages.filter((stage) => stage === "adapter")).toHaveLength(3);
  bench.ask(1);
  expect(await bench.answer(1)).not.toEqual([]);
});

test("a device lost at every attempt to load is device_lost, no internal error", async () => {
  const bench = new TestBench();
  bench.gpu.onLoad = (device) => device.lose();
  await expect(bench.load()).rejects.toMatchObject({ code: "device_lost" });
  expect(bench.gpu.devices.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
});

test("a cache that there is no memory for is halved, down to one full context, and is as large again after a loss", async () => {
  const bench = new TestBench();
  bench.gpu.maxBlocks = 30;
  expect(await bench.load({ numGpuBlocks: 100 })).toMatchObject({ model: { numGpuBlocks: 25 } });
  expect(bench.host.stats().num_gpu_blocks).toBe(25);
  bench.gpu.device.lose();
  while (bench.devices.length < 2) await turn();
  expect(bench.fatal).toEqual([]);

  const full = new TestBench();
  full.gpu.maxBlocks = 7;
  const { devices } = full.gpu;
  await expect(full.load({ numGpuBlocks: 100, maxModelLen: 128 })).rejects.toMatchObject({
    code: "out_of_memory",
    message: expect.stringContaining("8 blocks") as string,
  });
  expect(devices.map(({ isClosed }) => isClosed)).toEqual([true]);
  full.gpu.maxBlocks = 8;
  expect(await full.load({ numGpuBlocks: 100, maxModelLen: 128 })).toMatchObject({
    model: { numGpuBlocks: 8 },
  });
});

test("an engine disposed of while its device is replaced frees what is loaded afterwards", async () => {
  const bench = new TestBench();
  await bench.load();
  bench.ask(1);
  bench.gpu.device.lose();
  await turn();
  bench.host.dispose();
  await expect(bench.answer(1)).rejects.toMatchObject({ code: "engine_disposed" });
  await expect.poll(() => bench.gpu.devices.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  expect(bench.fatal).toMatchObject([{ code: "engine_disposed" }]);
});
