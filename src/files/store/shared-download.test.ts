// Downloads that other tabs want too, and from servers that compress, refuse ranges or send pages.

import { gzipSync } from "node:zlib";

import { afterEach, beforeEach, expect, test } from "vitest";

import { asFolder } from "../../host/loading/gguf-as-folder.ts";
import { describeModel } from "../../models/families.ts";
import type { RemoteLocation } from "../../protocol/model-source.ts";
import { memoryFolder } from "../../../tests/fakes/memory-folder.ts";
import { fixture, largeWeights, modelFiles, WEIGHTS } from "../../../tests/models/model-folders.ts";
import { ModelServer } from "../../../tests/fakes/model-server.ts";
import { HttpClient } from "../hub/http-client.ts";
import { ModelStore } from "./model-store.ts";

let server: ModelServer;
let root: FileSystemDirectoryHandle;

beforeEach(async () => {
  server = await ModelServer.start();
  root = memoryFolder({ freeBytes: Infinity });
});
afterEach(() => server.close());

const folder = (): RemoteLocation => ({ type: "folder", url: `${server.url}m/` });
const openStore = (more: { locks?: LockManager } = {}) =>
  new ModelStore({ root, http: new HttpClient(), describeModel, asFolder, ...more });

test.each([true, false])("a server that compresses what it sends is read whole (by parts: %s)", async (byParts) => {
  const weights = largeWeights(8);
  for (const [name, bytes] of modelFiles(weights)) server.files.set(`m/${name}`, bytes);
  const packedFiles = new Map([...server.files].map(([path, bytes]) => [path, gzipSync(bytes, { level: 1 })]));
  server.interfere = ({ path, range }, response) => {
    const packed = packedFiles.get(path);
    if (packed === undefined) return false;
    const [, begin = 0, end = packed.length - 1] = /^bytes=(\d+)-(\d+)$/.exec(byParts ? (range ?? "") : "") ?? [];
    const isPart = byParts && range !== null;
    response.writeHead(isPart ? 206 : 200, {
      "content-encoding": "gzip",
      "content-type": "application/octet-stream",
      ...(isPart && { "content-range": `bytes ${begin}-${end}/${packed.length}` }),
    });
    response.end(isPart ? packed.subarray(Number(begin), Number(end) + 1) : packed);
    return true;
  };
  const store = openStore();
  await store.download(folder());
  const stored = await (await store.open(folder()))?.open(WEIGHTS);
  expect(Buffer.compare(new Uint8Array(await stored!.arrayBuffer()), weights)).toBe(0);
});

test.each(["generation_config.json", WEIGHTS])("a hub that lists %s and sends a page fails", async (file) => {
  server.serveAsHub("a/b", new Map([...modelFiles(), ["generation_config.json", new TextEncoder().encode("{}")]]));
  server.interfere = ({ path }, response) =>
    path.endsWith(file) && Boolean(response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>"));
  const hub = { type: "hub", id: "a/b", revision: "main", hubUrl: server.url.slice(0, -1), token: null } as const;
  await expect(openStore().download(hub)).rejects.toMatchObject({
    code: "model_download_failed",
    message: expect.stringContaining("though the hub lists the file"),
  });
});

test("a server that takes no ranges sends a large file once, after its beginning", async () => {
  for (const [name, bytes] of modelFiles(largeWeights(20))) server.files.set(`m/${name}`, bytes);
  server.takesRanges = false;
  await openStore().download(folder());
  expect(server.requested.filter(({ path }) => path === `m/${WEIGHTS}`)).toHaveLength(2);
});

test.each([400, 403, 500])("a server that refuses ranges with %i sends the whole file", async (status) => {
  for (const [name, bytes] of modelFiles()) server.files.set(`m/${name}`, bytes);
  server.interfere = ({ range }, response) => range !== null && Boolean(response.writeHead(status).end());
  const store = openStore();
  await store.download(folder());
  const stored = await (await store.open(folder()))?.open(WEIGHTS);
  expect(Buffer.compare(new Uint8Array(await stored!.arrayBuffer()), fixture(WEIGHTS))).toBe(0);
});

test("two tabs that want one model download it once", async () => {
  for (const [name, bytes] of modelFiles()) server.files.set(`m/${name}`, bytes);
  let last: Promise<unknown> = Promise.resolve();
  const request = (_name: string, _options: LockOptions, task: (lock: unknown) => unknown) =>
    (last = last.then(() => task(true)));
  const locks = { request } as unknown as LockManager;
  const tab = () => openStore({ locks });
  const stored = await Promise.all([tab().download(folder()), tab().download(folder())]);
  expect(stored.map(({ status }) => status)).toEqual(["whole", "whole"]);
  expect(server.bytesRequested(`m/${WEIGHTS}`)).toBeLessThan(1.9 * fixture(WEIGHTS).length);
});
