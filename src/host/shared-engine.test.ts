// Pages that share an engine: real clients and a real host on a fake backend.

import { afterAll, beforeAll, expect, test } from "vitest";

import { EngineClient } from "../client/engine-client.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { toErrorData } from "../protocol/errors.ts";
import { FakeBackend } from "../../tests/fakes/fake-backend.ts";
import { fakePlatform } from "../../tests/fakes/fake-platform.ts";
import { modelFiles } from "../../tests/models/model-folders.ts";
import { ModelServer } from "../../tests/fakes/model-server.ts";
import { EngineHost } from "./engine-host.ts";
import { sharedEngines } from "./shared-engine.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await ModelServer.start();
  for (const [name, bytes] of modelFiles()) server.files.set(`m/${name}`, bytes);
});
afterAll(() => server.close());

const CONFIG = { seed: 1, logLevel: "silent" } as const;
const ASKED = { prompt: [1, 2, 3], max_tokens: 30, ignore_eos: true, return_token_ids: true };

function pages() {
  const backend = new FakeBackend("webgpu", "Fake");
  /** What the engine has posted, whoever heard it. */
  const posted = { words: 0, steps: 0, kernels: 0 };
  const nextPage = sharedEngines(() => {
    const host = new EngineHost(fakePlatform([backend]));
    const load = host.load.bind(host);
    host.load = (location, config, onMessage, onProgress) => {
      const count: typeof onMessage = (message) => {
        posted.words += message.words.length;
        posted.steps += message.steps.length;
        posted.kernels += message.kernels.length;
        onMessage(message);
      };
      return load(location, config, count, onProgress);
    };
    return host;
  });
  const join = (config: EngineConfig = CONFIG) => {
    const service = nextPage();
    const transport = { service, died: new Promise<never>(() => undefined), close: () => service.dispose() };
    return EngineClient.connect(transport, { type: "folder", url: `${server.url}m/` }, config);
  };
  return { backend, join, posted, nextPage };
}

test("one engine answers all pages, in shared steps, each its own answers", async () => {
  const { backend, join } = pages();
  const [a, b] = await Promise.all([join(), join()]);
  expect(backend.devices).toHaveLength(1);
  const together = { most: 0 };
  a.on("step", ({ entries }) => void (together.most = Math.max(together.most, entries.length)));
  const ask = (engine: EngineClient, seed: number) => engine.completions.create({ ...ASKED, seed, temperature: 1 });
  const [one, two] = await Promise.all([ask(a, 1), ask(b, 2)]);
  expect(together.most).toBe(2);
  expect((await ask(b, 1)).choices).toEqual(one.choices);
  expect((await ask(a, 2)).choices).toEqual(two.choices);
  expect(one.choices).not.toEqual(two.choices);
});

test("a page that leaves ends its own requests only, and the last one ends the engine", async () => {
  const { backend, join } = pages();
  const [a, b] = await Promise.all([join(), join()]);
  const left = a.completions.create({ ...ASKED, max_tokens: 200 }).catch(({ code }: { code: string }) => code);
  const kept = b.completions.create(ASKED);
  await a.dispose();
  expect(await left).toBe("engine_disposed");
  expect((await kept).choices[0]?.token_ids).toHaveLength(30);
  await expect.poll(async () => (await b.stats()).num_requests_running).toBe(0);
  expect(backend.device.isClosed).toBe(false);
  await b.dispose();
  await expect.poll(() => backend.device.isClosed).toBe(true);
  const again = await join();
  expect(backend.devices).toHaveLength(2);
  expect((await again.completions.create(ASKED)).choices).toEqual((await kept).choices);
});

test("what is loaded for pages that have left is freed, and the next page has an engine of its own", async () => {
  const { backend, join, nextPage } = pages();
  let goOn = (): void => {};
  backend.onLoad = () => new Promise((resolve) => (goOn = resolve));
  const leaving = nextPage();
  const nobody = () => undefined;
  const loading = leaving.load({ type: "folder", url: `${server.url}m/` }, CONFIG, nobody, nobody);
  const ending = loading.catch(toErrorData);
  await expect.poll(() => backend.devices.length).toBe(1);
  leaving.dispose();
  backend.onLoad = () => undefined;
  const next = await join();
  goOn();
  expect(await ending).toMatchObject({ code: "engine_disposed" });
  expect(backend.devices).toMatchObject([{ isClosed: true, isDisposed: true }, { isClosed: false }]);
  expect((await next.completions.create(ASKED)).choices).toHaveLength(1);
});

test("a page with another configuration has another engine, and disturbs nobody", async () => {
  const { backend, join } = pages();
  const [a, b] = await Promise.all([join(), join()]);
  const other = await join({ ...CONFIG, maxNumSeqs: 3 });
  expect(backend.devices).toHaveLength(2);
  const numSteps = { a: 0, other: 0 };
  a.on("step", () => numSteps.a++);
  other.on("step", () => numSteps.other++);
  await b.completions.create(ASKED);
  expect(numSteps.a).toBeGreaterThan(0);
  expect(numSteps.other).toBe(0);
  await other.dispose();
  await expect.poll(() => backend.devices.map(({ isClosed }) => isClosed)).toEqual([false, true]);
  expect((await a.completions.create(ASKED)).choices).toHaveLength(1);
});

test("all pages hear which batching mode one of them chooses, and who joins later finds it", async () => {
  const { join } = pages();
  const [a, b] = await Promise.all([join(), join()]);
  const received: string[] = [];
  b.on("config", ({ batchingMode }) => received.push(batchingMode));
  await a.update({ batchingMode: "static" });
  expect(received).toEqual(["static"]);
  const late = await join();
  expect(late.config.batchingMode).toBe("static");
  for (const engine of [a, b, late]) await engine.dispose();
  expect((await join()).config.batchingMode).toBe("continuous");
});

test("who joins with another batching mode or other alerts has the same engine, and its choice counts for all", async () => {
  const { backend, join } = pages();
  const a = await join();
  await a.update({ batchingMode: "static", alerts: { itlMs: null } });
  const b = await join({ ...CONFIG, alerts: { itlMs: null } });
  expect(b.config).toMatchObject({ batchingMode: "static", alerts: { itlMs: null } });
  const c = await join({ ...CONFIG, batchingMode: "sequential", alerts: { queueLength: 5 } });
  for (const { config } of [a, b, c]) {
    expect(config).toMatchObject({ batchingMode: "sequential", alerts: { queueLength: 5 } });
  }
  expect(backend.devices).toHaveLength(1);
});

test("who joins with alerts that can't be held is refused, and disturbs nobody", async () => {
  const { backend, join } = pages();
  const a = await join();
  const config = { ...CONFIG, alerts: { queueLength: -1 } };
  await expect(join(config)).rejects.toMatchObject({ code: "invalid_value", param: "alerts.queueLength" });
  expect(backend.devices).toHaveLength(1);
  expect((await a.completions.create(ASKED)).choices).toHaveLength(1);
});

test("who joins hears of the alerts that are raised, and of nothing that was resolved", async () => {
  const { join } = pages();
  // A busy machine is slow between tokens: that alert would be raised as well.
  const config = { ...CONFIG, alerts: { itlMs: null } };
  const a = await join(config);
  for (let i = 0; i < 20; i++) await a.completions.create({ prompt: "" }).catch(() => undefined);
  const observedBy = (page: EngineClient) => {
    const received: string[] = [];
    page.on("alert", ({ name, status }) => received.push(`${name} ${status}`));
    return received;
  };
  const b = observedBy(await join(config));
  await expect.poll(() => b).toEqual(["failure_rate raised"]);
  await a.update({ alerts: { itlMs: null, failureRate: null } });
  expect(b).toEqual(["failure_rate raised", "failure_rate resolved"]);
  const c = await join({ ...CONFIG, alerts: { itlMs: null, failureRate: null } });
  const late = observedBy(c);
  await c.completions.create(ASKED);
  expect(late).toEqual([]);
});

test.for([
  ["words", "words"],
  ["step", "steps"],
  ["kernels", "kernels"],
] as const)(
  "reports of %s go to the pages that listen, and are posted as long as any does",
  async ([event, reported]) => {
    const { join, posted } = pages();
    const [a, b] = await Promise.all([join(), join()]);
    await b.completions.create(ASKED);
    expect(posted[reported]).toBe(0);
    const received = { a: 0, b: 0 };
    const stopA = a.on(event, () => received.a++);
    await b.completions.create(ASKED);
    expect(received.a).toBeGreaterThan(0);
    b.on(event, () => received.b++);
    stopA();
    const before = received.a;
    await a.completions.create(ASKED);
    expect(received.a).toBe(before);
    expect(received.b).toBeGreaterThan(0);
    await b.dispose();
    const inAll = posted[reported];
    await a.completions.create(ASKED);
    expect(posted[reported]).toBe(inAll);
  },
);

test("all pages hear of a lost device, and of the engine's death; then a new one can be shared", async () => {
  const { backend, join } = pages();
  const engines = await Promise.all([join(), join()]);
  const received: string[] = [];
  for (const [i, engine] of engines.entries()) {
    engine.on("device", ({ status }) => received.push(`${i} ${status}`));
    engine.on("fatal", ({ code }) => received.push(`${i} ${code}`));
  }
  backend.device.lose();
  await expect.poll(() => received.length).toBe(4);
  backend.onLoad = (device) => device.lose();
  backend.device.lose();
  await expect.poll(() => received.filter((one) => one.endsWith("device_lost")).length).toBe(2);
  backend.onLoad = () => undefined;
  expect((await (await join()).completions.create(ASKED)).choices).toHaveLength(1);
});

test("a page changes the configuration for all, and whoever asks for the new one joins them", async () => {
  const { backend, join } = pages();
  const [a, b] = await Promise.all([join(), join()]);
  const received: number[] = [];
  b.on("config", ({ maxNumSeqs }) => received.push(maxNumSeqs));
  await a.update({ maxNumSeqs: 2, runAhead: null });
  expect(received).toEqual([2]);
  expect([a.config.maxNumSeqs, b.config.maxNumSeqs]).toEqual([2, 2]);
  const c = await join({ maxNumSeqs: 2, ...CONFIG });
  expect(backend.devices).toHaveLength(1);
  expect(c.config).toEqual(a.config);
  const before = await join();
  expect(backend.devices).toHaveLength(2);
  expect(before.config.maxNumSeqs).toBe(64);
  await expect(b.update({ maxNumSeqs: 65 })).rejects.toMatchObject({ param: "maxNumSeqs" });
  expect(b.config.maxNumSeqs).toBe(2);
});
