import { afterEach, expect, test, vi } from "vitest";

import { PageThreads } from "./page-threads.ts";

afterEach(() => vi.unstubAllGlobals());

test("a library of another origin starts threads from its copy in the bundle, unless they have ended by then", async () => {
  const started: string[] = [];
  const files: string[] = [];
  vi.stubGlobal("Worker", function (url: string | URL) {
    if (url instanceof URL) {
      files.push(url.href);
      throw new DOMException("Script cannot be accessed from this origin.", "SecurityError");
    }
    return { postMessage: () => started.push(url), addEventListener: () => undefined, terminate: () => undefined };
  });
  const threads = new PageThreads(null, () => Promise.resolve("blob:workers"));
  const { port1, port2 } = new MessageChannel();
  void threads.start(1, "grammars", port1);
  void threads.start(2, "texts", port2);
  threads.end(1);
  await expect.poll(() => started).toEqual(["blob:workers#text.worker"]);
  expect(files).toHaveLength(2);
  port1.close();
  port2.close();
});

test("what is asked for after the end is not started, and what is being started then ends", async () => {
  const terminate = vi.fn<() => void>();
  const start = vi.fn<() => object>(() => ({
    postMessage: () => undefined,
    addEventListener: () => undefined,
    terminate,
  }));
  vi.stubGlobal("Worker", function () {
    return start();
  });
  const threads = new PageThreads(null);
  const { port1, port2 } = new MessageChannel();
  void threads.start(1, "texts", port1);
  expect(start).toHaveBeenCalledOnce();
  threads.endAll();
  await expect.poll(() => terminate).toHaveBeenCalledOnce();
  void threads.start(2, "helpers", port2);
  expect(start).toHaveBeenCalledOnce();
  port1.close();
});
