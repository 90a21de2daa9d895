import { describe, expect, it, vi } from "vitest";

import { ChorusError } from "../protocol/errors.ts";
import type { StepReport } from "../protocol/reports.ts";
import { sampleRequest, sampleStep } from "../../tests/requests/sample-reports.ts";
import { AT, completion, CONFIG, FakeSide, MAP } from "../../tests/app/fake-side.ts";
import { EngineClient } from "./engine-client.ts";

const DIED = new ChorusError("worker_died", "gone");
const settle = () => new Promise((resolve) => setTimeout(resolve));

it("tells the prompt of a chat, or why there is none", async () => {
  const side = new FakeSide();
  const client = await side.connect();
  const messages = [{ role: "user", content: "Hi" } as const];
  expect(await client.chat.render({ messages })).toEqual({ text: "User: Hi", tokenIds: [1, 2] });
  await expect(client.chat.render({ messages: [] })).rejects.toMatchObject({ param: "messages" });
  side.die(DIED);
  await settle();
  await expect(client.chat.render({ messages })).rejects.toBe(DIED);
});

it("tells the configuration that the engine runs with", async () => {
  expect((await new FakeSide().connect()).config).toBe(CONFIG);
});

it("passes the cache's map on", async () => {
  const client = await new FakeSide().connect();
  expect(await client.kvCacheMap()).toEqual(MAP);
  expect(await client.kvBlockTokens(3)).toEqual({ tokenIds: [3], sequence: null, start: null });
});

it("changes the configuration, and tells why a change is refused", async () => {
  const client = await new FakeSide().connect();
  expect(await client.update({ maxNumSeqs: 4 })).toEqual({ maxNumSeqs: 4 });
  expect(client.config).toEqual({ maxNumSeqs: 4 });
  await expect(client.update({ maxNumSeqs: 100 })).rejects.toMatchObject({
    code: "invalid_value",
    param: "maxNumSeqs",
  });
  expect(client.config).toEqual({ maxNumSeqs: 4 });
});

it("tells what another page that shares the engine has changed", async () => {
  const side = new FakeSide();
  const client = await side.connect();
  const received: number[] = [];
  client.on("config", ({ maxNumSeqs }) => received.push(maxNumSeqs));
  side.post({ configs: [{ ...CONFIG, maxNumSeqs: 2 }] });
  expect(received).toEqual([2]);
  expect(client.config.maxNumSeqs).toBe(2);
});

describe("a stream", () => {
  it("begins with the first chunk and ends with the last", async () => {
    const side = new FakeSide();
    const client = await side.connect();
    const creating = client.completions.create({ prompt: "a", stream: true });
    side.chunk(1, "one");
    side.chunk(1, "two");
    side.post({ events: [{ type: "end", ticket: 1 }] });
    const texts = [];
    for await (const chunk of await creating) texts.push(chunk.choices[0]?.text);
    expect(texts).toEqual(["one", "two"]);
    expect(side.aborted).toEqual([]);
  });

  it("aborts its request when the reader leaves, even before the first chunk is taken", async () => {
    const side = new FakeSide();
    const client = await side.connect();
    const creating = client.completions.create({ prompt: "a", stream: true });
    side.chunk(1, "one");
    await (await creating).return?.();
    expect(side.aborted).toEqual([1]);
  });

  it("gives what came before an error, and then the error", async () => {
    const side = new FakeSide();
    const client = await side.connect();
    const creating = client.completions.create({ prompt: "a", stream: true });
    side.chunk(1, "one");
    const stream = await creating;
    side.post({ events: [{ type: "error", ticket: 1, error: { code: "queue_full", message: "full", param: null } }] });
    expect((await stream.next()).value?.choices[0]?.text).toBe("one");
    await expect(stream.next()).rejects.toMatchObject({ code: "queue_full" });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});

describe("an abort signal", () => {
  it("that has fired already sends nothing", async () => {
    const side = new FakeSide();
    const client = await side.connect();
    const signal = AbortSignal.abort(new Error("no"));
    await expect(client.completions.create({ prompt: "a" }, { signal })).rejects.toThrow("no");
    expect(side.submitted).toEqual([]);
  });

  it("rejects with its reason at once, and later events are nobody's", async () => {
    const side = new FakeSide();
    const client = await side.connect();
    const controller = new AbortController();
    const answer = client.completions.create({ prompt: "a" }, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
    side.post({ events: [{ type: "response", ticket: 1, response: completion("late") }] });
    expect(new Set(side.aborted)).toEqual(new Set([1]));
  });
});

describe("when the other side dies", () => {
  it("all that is open rejects with the reason, calls that wait included", async () => {
    const side = new FakeSide();
    const client = await side.connect();
    side.submitAnswer = () => new Promise(() => undefined); // as Comlink's, to a worker that is dead
    const open = [
      client.completions.create({ prompt: "a" }),
      client.chat.completions.create({ messages: [] }),
      client.stats(),
    ];
    const fatal = vi.fn<(error: unknown) => void>();
    client.on("fatal", fatal);
    side.die(DIED);
    const results = await Promise.allSettled(open);
    expect(results.map((result) => result.status === "rejected" && result.reason)).toEqual([DIED, DIED, DIED]);
    expect(fatal).toHaveBeenCalledExactlyOnceWith({ code: "worker_died", message: "gone", param: null });
    await expect(client.completions.create({ prompt: "a" })).rejects.toBe(DIED);
  });

  it("while it loads, loading rejects and the transport is closed", async () => {
    const side = new FakeSide();
    side.loaded = new Promise<never>(() => undefined);
    const connecting = side.connect();
    side.die(DIED);
    await expect(connecting).rejects.toBe(DIED);
    expect(side.isClosed).toBe(true);
  });

  it("dispose() still works, and is the reason of later rejections", async () => {
    const side = new FakeSide();
    const client = await side.connect();
    side.die(DIED);
    await settle();
    await client.dispose();
    await expect(client.stats()).rejects.toMatchObject({ code: "engine_disposed" });
    expect(side.isClosed).toBe(true);
  });
});

it("an abort after dispose() asks nothing of a side that is gone", async () => {
  const side = new FakeSide();
  const client = await side.connect();
  const controller = new AbortController();
  const creating = client.completions.create({ prompt: "a", stream: true }, { signal: controller.signal });
  await settle();
  side.chunk(1, "a");
  const stream = await creating;
  await client.dispose();
  controller.abort(); // a proxy that has been released throws
  expect(side.aborted).toEqual([]);
  await expect(stream.next()).rejects.toMatchObject({ code: "engine_disposed" });
});

it("a model that does not load is a ChorusError, and ends the other side", async () => {
  const side = new FakeSide();
  side.loaded = Promise.reject(new ChorusError("model_not_found", "nothing there", "model"));
  await expect(side.connect()).rejects.toEqual(new ChorusError("model_not_found", "nothing there", "model"));
  expect(side.isClosed).toBe(true);
});

it("a listener that throws costs the others nothing", async () => {
  const queued = vi.fn<(task: () => void) => void>();
  vi.stubGlobal("queueMicrotask", queued);
  const side = new FakeSide();
  const client = await side.connect();
  const steps: StepReport[] = [];
  client.on("step", () => {
    throw new Error("mine");
  });
  const off = client.on("step", (step) => steps.push(step));
  const report = { step: 1 } as StepReport;
  side.post({ steps: [report] });
  off();
  side.post({ steps: [report] });
  expect(steps).toEqual([report]);
  expect(queued).toHaveBeenCalledTimes(2);
  expect(queued.mock.calls[0]?.[0]).toThrow("mine");
  vi.unstubAllGlobals();
});

it("a request that is no plain data is refused as such", async () => {
  const side = new FakeSide();
  const client = await side.connect();
  side.submitAnswer = () => {
    throw new DOMException("a function could not be cloned", "DataCloneError");
  };
  await expect(client.completions.create({ prompt: "a" })).rejects.toMatchObject({ code: "invalid_type" });
});

it("what can't cross to the worker is named, in a request and in the config", async () => {
  const side = new FakeSide();
  const client = await side.connect();
  side.submitAnswer = () => {
    throw new DOMException("a function could not be cloned", "DataCloneError");
  };
  const body = { prompt: "a", user: () => 1 } as unknown as { prompt: string };
  await expect(client.completions.create(body)).rejects.toMatchObject({ code: "invalid_type", param: "user" });

  side.loaded = Promise.reject(new DOMException("a function could not be cloned", "DataCloneError"));
  const config = { maxNumSeqs: 4, seed: () => 1 } as unknown as { seed: number };
  const connecting = EngineClient.connect(side, AT, config);
  await expect(connecting).rejects.toMatchObject({ name: "ChorusError", code: "invalid_type", param: "seed" });
});

it("refuses options, events and listeners that are none, and sends nothing", async () => {
  const side = new FakeSide();
  const client = await side.connect();
  const create = (options: unknown) => client.completions.create({ prompt: "a" }, options as { signal: AbortSignal });
  await expect(create(5)).rejects.toMatchObject({ code: "invalid_type", param: "options" });
  await expect(create({ signal: "now" })).rejects.toMatchObject({ code: "invalid_type", param: "signal" });
  expect(side.submitted).toEqual([]);
  const on = client.on.bind(client) as (event: string, listener: unknown) => void;
  expect(() => on("steps", () => undefined)).toThrow(
    expect.objectContaining({ code: "invalid_value", param: "event" }),
  );
  expect(() => on("toString", () => undefined)).toThrow(/step, request, words, kernels, alert, device, config, fatal/);
  expect(() => on("step", 5)).toThrow(expect.objectContaining({ code: "invalid_type", param: "listener" }));
});

it("takes null for options and signal as if they were left out", async () => {
  const side = new FakeSide();
  const client = await side.connect();
  const create = (options: unknown) => client.completions.create({ prompt: "a" }, options as { signal: AbortSignal });
  const answers = [create(null), create({ signal: null })];
  await settle();
  for (const ticket of [1, 2]) side.post({ events: [{ type: "response", ticket, response: completion("b") }] });
  for (const answer of answers) expect((await answer).choices[0]?.text).toBe("b");
});

it("tells of a step before the requests it ended and the alerts it raised, and gives the metrics' text", async () => {
  const side = new FakeSide();
  const client = await side.connect();
  const reported: string[] = [];
  client.on("alert", ({ name }) => reported.push(name));
  client.on("request", ({ status }) => reported.push(status));
  client.on("step", ({ step }) => reported.push(`step ${step}`));
  const alert = { status: "raised", name: "itl", value: 2, threshold: 1, atMs: 0, message: "slow" } as const;
  side.post({ alerts: [alert], requests: [sampleRequest("a", { status: "finished" })], steps: [sampleStep()] });
  expect(reported).toEqual(["step 1", "finished", "itl"]);
  expect(await client.metrics()).toContain("vllm:num_requests_running");
});
