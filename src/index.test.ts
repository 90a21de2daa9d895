// Options that createEngine refuses before it starts anything.

import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createEngine } from "./index.ts";
import type { CreateEngineOptions } from "./protocol/engine.ts";
import { modelFiles } from "../tests/models/model-folders.ts";

const model = "https://page.example/models/chorus-chat/";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.doUnmock("./host/engine-host.ts");
});

describe("createEngine refuses by name", () => {
  it.each([
    ["no options", undefined, "invalid_type", null],
    ["no object", "model", "invalid_type", null],
    ["no model", {}, "missing_required_parameter", "model"],
    ["null for a model", { model: null }, "missing_required_parameter", "model"],
    ["an empty model", { model: "" }, "invalid_value", "model"],
    ["a number for a model", { model: 5 }, "invalid_type", "model"],
    ["a list of something else", { model: [new File([], "config.json"), "b"] }, "invalid_type", "model"],
    ["a worker that is no boolean", { model, worker: 1 }, "invalid_type", "worker"],
    ["a signal that is none", { model, signal: {} }, "invalid_type", "signal"],
    ["a listener that is none", { model, onProgress: 5 }, "invalid_type", "onProgress"],
    ["a gpu that is none", { model, worker: false, gpu: {} }, "invalid_type", "gpu"],
    ["a gpu for a worker", { model, worker: true, gpu: { requestAdapter: () => null } }, "invalid_value", "gpu"],
  ])("%s", async (_, options, code, param) => {
    await expect(createEngine(options as CreateEngineOptions)).rejects.toMatchObject({
      name: "ChorusError",
      code,
      param,
    });
  });
});

it("createEngine says why there is no WebGPU on a page that came over plain http", async () => {
  vi.stubGlobal("isSecureContext", false);
  vi.stubGlobal("Worker", vi.fn<() => void>());
  await expect(createEngine({ model })).rejects.toMatchObject({
    code: "webgpu_unavailable",
    message: expect.stringContaining("https://"),
  });
});

describe("where there are no Web Workers", () => {
  it("createEngine runs in this thread by itself, and a gpu can be given", async () => {
    const files = [...modelFiles()].map(([name, bytes]) => new File([bytes.slice()], name));
    const gpu = { requestAdapter: async () => null } as unknown as GPU;
    await using engine = await createEngine({ model: files, backend: "auto", gpu });
    expect(engine.model.backend).toBe("cpu");
  });

  it.each([true, "shared"] as const)("worker: %s is refused, and it is said what would do", async (worker) => {
    const refusal = { code: "invalid_value", param: "worker" };
    await expect(createEngine({ model, worker })).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining("Leave worker out"),
    });
    vi.stubGlobal("ServiceWorkerGlobalScope", vi.fn<() => void>());
    await expect(createEngine({ model, worker })).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining("offscreen document"),
    });
  });

  it("a service worker, which may not import, is told to use a page", async () => {
    vi.stubGlobal("ServiceWorkerGlobalScope", vi.fn<() => void>());
    const imported = "./host/engine-host.ts";
    onTestFinished(() => {
      vi.doUnmock(imported);
    });
    vi.doMock(imported, () => Promise.reject(new TypeError("import() is disallowed")));
    await expect(createEngine({ model })).rejects.toMatchObject({
      code: "invalid_value",
      param: "worker",
      message: expect.stringContaining("offscreen document"),
    });
  });
});
