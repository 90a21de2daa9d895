// A download, as a page has it from its worker.

import * as Comlink from "comlink";
import { afterEach, expect, test, vi } from "vitest";

import { memoryFolder } from "../../tests/fakes/memory-folder.ts";
import { modelFiles, WEIGHTS } from "../../tests/models/model-folders.ts";
import { HttpClient } from "../files/hub/http-client.ts";
import { ModelStore } from "../files/store/model-store.ts";
import { ModelsHost } from "../host/models-host.ts";
import { nodePlatform } from "../host/platforms/node.ts";
import { asFolder } from "../host/loading/gguf-as-folder.ts";
import { describeModel } from "../models/families.ts";
import { announced } from "../protocol/announced-endpoint.ts";
import { createModels } from "./models-client.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Has the page's worker run here. Returns what ends it. */
function startWorker(): () => void {
  const http = new HttpClient();
  const store = new ModelStore({ root: memoryFolder({ freeBytes: Infinity }), http, describeModel, asFolder });
  const host = new ModelsHost({ ...nodePlatform({ gpu: undefined }), openModelStore: () => Promise.resolve(store) });
  const { port1, port2 } = new MessageChannel();
  Comlink.expose(Object.assign(host, { started: () => true }), announced(port2));
  const terminate = vi.fn<() => void>(() => port1.close());
  vi.stubGlobal("navigator", {});
  vi.stubGlobal("Worker", function () {
    return Object.assign(port1, { terminate });
  });
  return terminate;
}

test.each([
  ["answers nothing", "config.json"],
  ["falls silent within the weights", WEIGHTS],
])(
  "a download from a server that %s gives up within a minute, and its caller hears which file it was",
  async (_, silent) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const terminate = startWorker();
    let numSilent = 0;
    vi.stubGlobal("fetch", async (url: string, { signal }: RequestInit) => {
      const name = url.replace("https://site.test/m/", "");
      const bytes = modelFiles().get(name);
      if (name !== silent) return new Response(bytes?.slice() ?? null, { status: bytes ? 200 : 404 });
      numSilent++;
      const aborted = (fail: (reason: unknown) => void) => signal?.addEventListener("abort", () => fail(signal.reason));
      if (silent !== WEIGHTS) return new Promise<Response>((_resolve, reject) => aborted(reject));
      const body = new ReadableStream({ start: (stream) => aborted((reason) => stream.error(reason)) });
      return new Response(body, { headers: { "content-length": "100000" } });
    });
    const models = createModels(() => Promise.reject(new Error("The worker has it.")));
    const downloading = models.download("https://site.test/m/").catch((error: unknown) => error);
    const settled: unknown[] = [];
    void downloading.then((error) => settled.push(error));
    const beganMs = performance.now();
    while (settled.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      if (numSilent > 0) await vi.advanceTimersByTimeAsync(100);
    }
    const [error] = settled;
    expect(error).toMatchObject({ name: "ChorusError", code: "model_download_failed", param: silent });
    expect(error).toHaveProperty("message", expect.stringContaining("nothing arrived for 15 s"));
    expect(performance.now() - beganMs).toBeLessThanOrEqual(60_000);
    expect(terminate).toHaveBeenCalledOnce();
  },
);
