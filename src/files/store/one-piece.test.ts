// A stored folder is of one piece, whatever its server does while it is downloaded.

import { afterEach, beforeEach, expect, test } from "vitest";
import type { RemoteLocation } from "../../protocol/model-source.ts";
import { memoryFolder, type MemoryDisk } from "../../../tests/fakes/memory-folder.ts";
import { fixture, largeWeights, modelFiles, WEIGHTS } from "../../../tests/models/model-folders.ts";
import { ModelServer } from "../../../tests/fakes/model-server.ts";
import { asFolder } from "../../host/loading/gguf-as-folder.ts";
import { describeModel } from "../../models/families.ts";
import { HttpClient } from "../hub/http-client.ts";
import { encodeSafetensorsHeader } from "../safetensors-header.ts";
import { ModelStore } from "./model-store.ts";

let server: ModelServer;
let disk: MemoryDisk;
let store: ModelStore;
let folder: RemoteLocation;

beforeEach(async () => {
  server = await ModelServer.start();
  disk = { freeBytes: Infinity };
  const http = new HttpClient({ wait: () => Promise.resolve() });
  store = new ModelStore({ root: memoryFolder(disk), http, describeModel, asFolder });
  folder = { type: "folder", url: `${server.url}m/` };
});
afterEach(() => server.close());

function serveFolder(files: ReadonlyMap<string, Uint8Array>): void {
  for (const [name, bytes] of files) server.files.set(`m/${name}`, bytes);
}

async function storedBytes(file: string): Promise<Uint8Array> {
  const files = await store.open(folder);
  if (!files) throw new Error("it is not stored");
  return new Uint8Array(await (await files.open(file)).arrayBuffer());
}

const sameBytes = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

test("a small file replaced since the download began makes it start over", async () => {
  serveFolder(modelFiles(largeWeights(20)));
  disk.onWrite = (written) => {
    if (written > 15 * 2 ** 20) server.files.set("m/config.json", changed);
  };
  const changed = new TextEncoder().encode(`${new TextDecoder().decode(fixture("config.json"))} `);
  await store.download(folder);
  expect(sameBytes(await storedBytes("config.json"), changed)).toBe(true);
});

test("shards replaced one after another make the download start over, without ETags and dates", async () => {
  server.hasVersions = false;
  const shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
  const shard = (name: string, value: number) => {
    const header = encodeSafetensorsHeader([{ name, dtype: "U8", shape: [9000], begin: 0, end: 9000 }]);
    return new Uint8Array([...header, ...new Uint8Array(9000).fill(value)]);
  };
  const index = { weight_map: { a: shards[0], b: shards[1] } };
  const files = modelFiles();
  files.delete(WEIGHTS);
  files.set("model.safetensors.index.json", new TextEncoder().encode(JSON.stringify(index)));
  for (const [i, name] of shards.entries()) files.set(name, shard("ab"[i]!, 1));
  serveFolder(files);
  let isReplaced = false;
  // When both headers have been read, and all of the first shard has been sent.
  server.interfere = ({ path }, _response, count) => {
    if (isReplaced || path !== `m/${shards[1]}` || count !== 2) return false;
    isReplaced = true;
    for (const [i, name] of shards.entries()) server.files.set(`m/${name}`, shard("ab"[i]!, 2));
    return false;
  };
  await store.download(folder);
  expect(isReplaced).toBe(true);
  for (const name of shards) expect((await storedBytes(name)).at(-1)).toBe(2);
});

test.each([true, false])(
  "a file replaced without ETag and date makes the download start over (in a pause: %s)",
  async (isPaused) => {
    server.hasVersions = false;
    const before = largeWeights(20);
    const after = before.slice().fill(0x55, 2 ** 16);
    serveFolder(modelFiles(before));
    if (isPaused) {
      const controller = new AbortController();
      disk.onWrite = (written) => {
        if (written > 5 * 2 ** 20) controller.abort(new Error("enough"));
      };
      await expect(store.download(folder, { signal: controller.signal })).rejects.toThrow("enough");
      disk.onWrite = () => undefined;
      serveFolder(modelFiles(after));
    } else {
      disk.onWrite = (written) => {
        if (written > 5 * 2 ** 20) serveFolder(modelFiles(after));
      };
    }
    await store.download(folder);
    const half = 5 * 2 ** 21;
    const bytes = await storedBytes(WEIGHTS);
    expect(sameBytes(bytes.subarray(-half), after.subarray(-half))).toBe(true);
    expect(sameBytes(bytes.subarray(-2 * half, -half), after.subarray(-2 * half - 2 ** 20, -half - 2 ** 20))).toBe(
      true,
    );
  },
);

test.each(["resumes", "begins a part"])("a server that %s one byte off makes the download fail", async (when) => {
  const weights = largeWeights(20);
  serveFolder(modelFiles(weights));
  if (when === "resumes") server.cutAfter = 3 * 2 ** 20;
  const wrong = new Uint8Array(weights.length);
  wrong.set(weights.subarray(1));
  const isHit = (begin: number) => begin > 0 && (when === "resumes" ? begin % 2 ** 23 > 2 ** 21 : begin < 2 ** 24);
  server.shift = (begin) => (isHit(begin) ? wrong : null);
  await expect(store.download(folder)).rejects.toEqual(
    expect.objectContaining({
      code: "model_download_failed",
      message: expect.stringContaining("wrong parts") as string,
    }),
  );
  expect(await store.open(folder)).toBeNull();
  server.shift = () => null;
  server.cutAfter = Infinity;
  expect(await store.download(folder)).toMatchObject({ status: "whole" });
});

test("a part that was sent one byte off before a pause is not kept, though the part before it was missing", async () => {
  const weights = largeWeights(20);
  serveFolder(modelFiles(weights));
  const wrong = new Uint8Array(weights.length);
  wrong.set(weights.subarray(1));
  server.shift = (begin) => (begin > 2 ** 22 && begin < 2 ** 24 ? wrong : null);
  // The first part never comes.
  server.interfere = ({ path, range }) => {
    const [, begin, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
    return path === `m/${WEIGHTS}` && Number(begin) < 2 ** 20 && Number(end) > 2 ** 22;
  };
  const pause = new AbortController();
  disk.onWrite = (written) => {
    if (written > 11 * 2 ** 20) pause.abort(new Error("enough"));
  };
  await expect(store.download(folder, { signal: pause.signal })).rejects.toThrow("enough");
  disk.onWrite = () => undefined;
  server.interfere = () => false;
  server.shift = () => null;
  await store.download(folder);
  const half = 5 * 2 ** 21;
  expect(sameBytes((await storedBytes(WEIGHTS)).subarray(-half), weights.subarray(-half))).toBe(true);
});
