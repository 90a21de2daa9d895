// A worker whose file and whose copy in the bundle can't be loaded. Bundlers' own ways are in e2e/package/.

import { gzipSync } from "node:zlib";

import { afterEach, expect, test, vi } from "vitest";

import { ChorusError } from "../protocol/errors.ts";
import { startOwnWorker } from "./own-worker.ts";

const INLINE = "./inline-workers.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.doUnmock(INLINE);
  vi.unstubAllGlobals();
});

test("without its copy it is refused for its file's reason, and the next one looks for the copy again", async () => {
  const died = new ChorusError("worker_died", "its script could not be loaded");
  const start = () =>
    startOwnWorker(
      () => {
        throw died;
      },
      { kind: "engine.worker", start: (remote) => remote.started() },
    );
  vi.doMock(INLINE, () => Promise.reject(new TypeError("Failed to fetch dynamically imported module")));
  await expect(start()).rejects.toBe(died);

  vi.doMock(INLINE, () => ({ packedWorkers: gzipSync("all workers").toString("base64") }));
  const addresses: string[] = [];
  const opened = new Error("opened");
  vi.stubGlobal("Worker", function (url: string) {
    addresses.push(url);
    throw opened;
  });
  await expect(start()).rejects.toBe(opened);
  expect(addresses).toEqual([expect.stringMatching(/^blob:.*#engine\.worker$/) as string]);
});

test("one that never answers is ended after two minutes, and so is its copy", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  vi.doMock(INLINE, () => ({ packedWorkers: gzipSync("all workers").toString("base64") }));
  const terminate = vi.fn<() => void>();
  const open = () => Object.assign(new MessageChannel().port1, { terminate }) as unknown as Worker;
  vi.stubGlobal("Worker", function () {
    return open();
  });
  const starting = startOwnWorker(open, { kind: "engine.worker", start: () => new Promise(() => undefined) });
  const refused = starting.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(terminate).toHaveBeenCalledTimes(1);
  await expect.poll(() => vi.advanceTimersByTimeAsync(120_000).then(() => terminate.mock.calls)).toHaveLength(2);
  expect(await refused).toMatchObject({
    code: "worker_died",
    message: expect.stringContaining("120 seconds") as string,
  });
});
