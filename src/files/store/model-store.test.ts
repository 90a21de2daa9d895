// Downloads from servers and over connections that misbehave.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RemoteLocation } from "../../protocol/model-source.ts";
import type { DownloadProgress } from "../../protocol/models.ts";
import { memoryFolder, type MemoryDisk } from "../../../tests/fakes/memory-folder.ts";
import { fixture, largeWeights, modelFiles, WEIGHTS } from "../../../tests/models/model-folders.ts";
import { ModelServer } from "../../../tests/fakes/model-server.ts";
import { asFolder } from "../../host/loading/gguf-as-folder.ts";
import { describeModel } from "../../models/families.ts";
import { HttpClient } from "../hub/http-client.ts";
import { openCheckpoint } from "../open-checkpoint.ts";
import { encodeSafetensorsHeader } from "../safetensors-header.ts";
import { ModelStore } from "./model-store.ts";

const ID = "tiny/gpt2";
const AT_HUB = `${ID}/resolve/c0ffee0/${WEIGHTS}`;

let server: ModelServer;
let disk: MemoryDisk;
let root: FileSystemDirectoryHandle;
let waits: number[];
let store: ModelStore;
let hub: RemoteLocation;
let folder: RemoteLocation;

beforeEach(async () => {
  server = await ModelServer.start();
  disk = { freeBytes: Infinity };
  root = memoryFolder(disk);
  waits = [];
  store = openStore();
  hub = { type: "hub", id: ID, revision: "main", hubUrl: server.url.slice(0, -1), token: null };
  folder = { type: "folder", url: `${server.url}m/` };
});
afterEach(() => server.close());

/** Returns a store as after a reload, with only what is on the disk. */
function openStore(stallMs = 10_000, says: { freeBytes: number } = disk): ModelStore {
  const http = new HttpClient({
    wait: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
    stallMs,
  });
  return new ModelStore({ root, http, describeModel, asFolder, freeBytes: () => Promise.resolve(says.freeBytes) });
}

function serveFolder(files: ReadonlyMap<string, Uint8Array>): void {
  for (const [name, bytes] of files) server.files.set(`m/${name}`, bytes);
}

/** Reads the log, since progress is reported only a few times a second. */
function abortAfter(bytes: number, controller: AbortController): void {
  disk.onWrite = (written) => {
    if (written > bytes) controller.abort(new Error("enough"));
  };
}

async function storedBytes(location: RemoteLocation, file: string): Promise<Uint8Array> {
  const files = await store.open(location);
  if (!files) throw new Error("it is not stored");
  return new Uint8Array(await (await files.open(file)).arrayBuffer());
}

const sameBytes = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;
const failure = (code: string, part: string) =>
  expect.objectContaining({ name: "ChorusError", code, message: expect.stringContaining(part) });

describe("a model of the hub", () => {
  test("is stored completely, under the name that createEngine takes", async () => {
    server.serveAsHub(ID, modelFiles());
    const stored = await store.download(hub);
    expect(stored).toMatchObject({ model: ID, revision: "main", commit: "c0ffee0", status: "whole" });
    expect(await openStore().list()).toEqual([stored]);
    expect(sameBytes(await storedBytes(hub, WEIGHTS), fixture(WEIGHTS))).toBe(true);
    const checkpoint = await openCheckpoint((await store.open(hub))!);
    expect(checkpoint.shape("transformer.wpe.weight")).toEqual([128, 64]);
  });

  test("is not requested again", async () => {
    server.serveAsHub(ID, modelFiles());
    await store.download(hub);
    const requests = server.requested.length;
    await openStore().download(hub);
    expect(server.requested).toHaveLength(requests);
  });

  test("is fetched from the commit at which its download began", async () => {
    server.serveAsHub(ID, modelFiles(largeWeights(20)));
    const controller = new AbortController();
    server.interfere = ({ range }) => {
      if (range !== null && !range.startsWith("bytes=0-")) controller.abort();
    };
    await expect(store.download(hub, { signal: controller.signal })).rejects.toThrow(/abort/);
    server.interfere = () => false;
    server.serveAsHub(ID, modelFiles(largeWeights(2)), { commit: "decade5" });
    server.serveAsHub("other/x", new Map());
    server.files.set(`api/models/${ID}/revision/c0ffee0`, hubList(largeWeights(20), "c0ffee0"));
    expect(await openStore().download(hub)).toMatchObject({ commit: "c0ffee0", status: "whole" });
  });

  test("is deleted if its weights arrive damaged", async () => {
    const wrong = fixture(WEIGHTS);
    wrong[wrong.length - 1]! ^= 1;
    server.serveAsHub(ID, modelFiles());
    server.files.set(AT_HUB, wrong);
    await expect(store.download(hub)).rejects.toEqual(failure("model_download_failed", "hash"));
    expect(await store.open(hub)).toBeNull();
    server.files.set(AT_HUB, fixture(WEIGHTS));
    expect(await store.download(hub)).toMatchObject({ status: "whole" });
  });

  test("is deleted if a small file arrives damaged", async () => {
    server.serveAsHub(ID, modelFiles(), { large: Infinity });
    server.files.set(`${ID}/resolve/c0ffee0/config.json`, fixture("config.json").with(1, 0x09));
    await expect(store.download(hub)).rejects.toEqual(failure("model_download_failed", "config.json"));
  });

  test("fails with a reason if it does not exist or is private", async () => {
    server.interfere = (_asked, response) => Boolean(response.writeHead(404, { "x-error-code": "RepoNotFound" }).end());
    await expect(store.download(hub)).rejects.toEqual(failure("model_not_found", ID));
    for (const status of [401, 403]) {
      server.interfere = (_asked, response) => Boolean(response.writeHead(status).end());
      await expect(store.download(hub)).rejects.toThrow(`The hub refuses access to ${ID} (${status}). It is private`);
      expect(waits).toEqual([]);
    }
  });

  test("is requested with the token at the hub, but not at the server to which the hub redirects", async () => {
    const other = await ModelServer.start();
    try {
      server.serveAsHub(ID, modelFiles());
      other.files.set("cdn/weights", fixture(WEIGHTS));
      server.interfere = ({ path }, response) =>
        path === AT_HUB && Boolean(response.writeHead(302, { location: `${other.url}cdn/weights` }).end());
      const withToken = { ...hub, token: "secret" } as RemoteLocation;
      expect(await store.download(withToken)).toMatchObject({ status: "whole" });
      expect(server.requested.every(({ authorization }) => authorization === "Bearer secret")).toBe(true);
      expect(other.requested.length).toBeGreaterThan(0);
      expect(other.requested.every(({ authorization }) => authorization === null)).toBe(true);
      expect(JSON.stringify(await store.list())).not.toContain("secret");
    } finally {
      await other.close();
    }
  });

  test("can be fetched from a mirror that has no list of its files", async () => {
    for (const [name, bytes] of modelFiles()) server.files.set(`${ID}/resolve/main/${name}`, bytes);
    expect(await store.download(hub)).toMatchObject({ commit: null, status: "whole" });
  });

  test("fails with the weights' format if they are not safetensors", async () => {
    const files = modelFiles();
    files.delete(WEIGHTS);
    server.serveAsHub(ID, new Map([...files, ["pytorch_model.bin", new Uint8Array(9)]]));
    await expect(store.download(hub)).rejects.toEqual(failure("model_not_found", "pytorch_model.bin"));
    server.serveAsHub(ID, new Map([["x.gguf", new Uint8Array(9)]]));
    await expect(store.download(hub)).rejects.toEqual(failure("model_invalid", "x.gguf"));
  });
});

function hubList(weights: Uint8Array, commit: string): Uint8Array {
  const siblings = [...modelFiles(weights)].map(([rfilename, { length: size }]) => ({ rfilename, size }));
  return new TextEncoder().encode(JSON.stringify({ sha: commit, siblings }));
}

describe("a folder", () => {
  test("is stored without unused masks, and reads as a valid file", async () => {
    const weights = largeWeights(20);
    serveFolder(modelFiles(weights));
    const stored = await store.download(folder);
    expect(stored).toMatchObject({ model: folder.type === "folder" && folder.url, revision: null, status: "whole" });
    const kept = await openCheckpoint((await store.open(folder))!);
    expect(kept.names()).toEqual(["transformer.wte.weight", "transformer.ln_f.bias"]);
    const bytes = await storedBytes(folder, WEIGHTS);
    const half = 5 * 2 ** 21;
    expect(sameBytes(bytes.subarray(-half), weights.subarray(-half))).toBe(true);
    expect(sameBytes(bytes.subarray(-2 * half, -half), weights.subarray(-2 * half - 2 ** 20, -half - 2 ** 20))).toBe(
      true,
    );
    // Everything but the mask, and the beginning twice.
    expect(server.bytesRequested(`m/${WEIGHTS}`)).toBeLessThan(weights.length - 2 ** 20 + 2 ** 17);
  });

  test("is fetched with all its shards", async () => {
    const shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    const one = (name: string) =>
      new Uint8Array([...encodeSafetensorsHeader([{ name, dtype: "U8", shape: [4], begin: 0, end: 4 }]), 1, 2, 3, 4]);
    const index = { weight_map: { a: shards[0], b: shards[1] } };
    const files = modelFiles();
    files.delete(WEIGHTS);
    files.set("model.safetensors.index.json", new TextEncoder().encode(JSON.stringify(index)));
    for (const [i, name] of shards.entries()) files.set(name, one("ab"[i]!));
    serveFolder(files);
    await store.download(folder);
    expect((await openCheckpoint((await store.open(folder))!)).names()).toEqual(["a", "b"]);
    server.files.delete(`m/${shards[1]}`);
    await store.delete(folder);
    await expect(store.download(folder)).rejects.toEqual(failure("model_not_found", shards[1]!));
  });

  test("reports its progress with rate and time left", async () => {
    serveFolder(modelFiles(largeWeights(20)));
    const reported: DownloadProgress[] = [];
    const { totalBytes } = await store.download(folder, { onProgress: (progress) => reported.push(progress) });
    const received = reported.map((progress) => progress.receivedBytes);
    expect(received).toEqual(received.toSorted((a, b) => a - b));
    expect(reported.at(-1)).toMatchObject({ receivedBytes: totalBytes, totalBytes });
  });

  test("without a tokenizer, or of another architecture, is refused before its weights are fetched", async () => {
    const weights = largeWeights(20);
    serveFolder(modelFiles(weights));
    server.files.delete("m/tokenizer.json");
    await expect(store.download(folder)).rejects.toEqual(failure("model_not_found", "tokenizer.json"));
    server.files.set("m/config.json", new TextEncoder().encode('{"model_type":"mamba"}'));
    await expect(store.download(folder)).rejects.toEqual(failure("model_unsupported", "mamba"));
    expect(server.bytesRequested(`m/${WEIGHTS}`)).toBe(0);
  });

  test("with a lying header is refused before its weights are fetched", async () => {
    const weights = largeWeights(20);
    serveFolder(modelFiles(weights.subarray(0, -1)));
    await expect(store.download(folder)).rejects.toEqual(failure("model_invalid", "cut short"));
    expect(server.bytesRequested(`m/${WEIGHTS}`)).toBeLessThan(2 ** 17);
    expect(await store.list()).toEqual([]);
  });
});

describe("an interrupted download", () => {
  test("resumes after a reload, and is incomplete until then", async () => {
    const weights = largeWeights(20);
    serveFolder(modelFiles(weights));
    const controller = new AbortController();
    abortAfter(9 * 2 ** 20, controller);
    await expect(store.download(folder, { signal: controller.signal })).rejects.toThrow("enough");
    expect(await store.open(folder)).toBeNull();
    const [partial] = await openStore().list();
    expect(partial).toMatchObject({ status: "partial" });
    // The disk counts what the store writes beside the files, too.
    expect(partial!.receivedBytes).toBeGreaterThan(8 * 2 ** 20);

    const reported: number[] = [];
    await openStore().download(folder, { onProgress: ({ receivedBytes }) => reported.push(receivedBytes) });
    expect(reported[0]).toBe(partial!.receivedBytes);
    const half = 5 * 2 ** 21;
    expect(sameBytes((await storedBytes(folder, WEIGHTS)).subarray(-half), weights.subarray(-half))).toBe(true);
  });

  test("is forgotten when it is deleted", async () => {
    serveFolder(modelFiles());
    const controller = new AbortController();
    controller.abort(new Error("no"));
    await expect(store.download(folder, { signal: controller.signal })).rejects.toThrow("no");
    await store.delete(folder);
    await store.delete(folder);
    expect(await store.list()).toEqual([]);
  });

  test("survives any number of breaks, as long as each connection delivers bytes", async () => {
    const weights = largeWeights(20);
    serveFolder(modelFiles(weights));
    server.cutAfter = 2 ** 20;
    await store.download(folder);
    expect(sameBytes((await storedBytes(folder, WEIGHTS)).subarray(-10_000_000), weights.subarray(-10_000_000))).toBe(
      true,
    );
    // No byte was fetched twice: each request began a mebibyte later.
    expect(server.requested.filter(({ range }) => range !== null).length).toBeLessThan(40);
  });

  test("survives a connection that stalls", async () => {
    serveFolder(modelFiles());
    const etag = (await fetch(`${server.url}m/${WEIGHTS}`)).headers.get("etag") ?? "";
    server.requested.length = 0;
    const size = fixture(WEIGHTS).length;
    server.interfere = ({ path }, response, count) => {
      if (path !== `m/${WEIGHTS}` || count !== 2) return false;
      response.writeHead(200, { etag, "content-length": size }).write(fixture(WEIGHTS).subarray(0, 1000));
      return true; // and no further byte
    };
    // Long enough that a busy machine's own pauses are no stalls.
    expect(await openStore(2000).download(folder)).toMatchObject({ status: "whole" });
    expect(waits).toEqual([500]);
    // From the first byte on: those that are there are compared.
    const ranges = server.requested.filter(({ path }) => path === `m/${WEIGHTS}`).map(({ range }) => range);
    expect(ranges[2]).toBe(`bytes=0-${size - 1}`);
    expect(sameBytes(await storedBytes(folder, WEIGHTS), fixture(WEIGHTS))).toBe(true);
  });
});

describe("a server that", () => {
  test("ignores ranges sends the whole file, also when a download resumes", async () => {
    const weights = largeWeights(20);
    serveFolder(modelFiles(weights));
    server.takesRanges = false;
    const controller = new AbortController();
    abortAfter(5 * 2 ** 20, controller);
    await expect(store.download(folder, { signal: controller.signal })).rejects.toThrow("enough");
    await openStore().download(folder);
    expect(sameBytes(await storedBytes(folder, WEIGHTS), weights)).toBe(true);
  });

  test("is busy is retried after its Retry-After", async () => {
    serveFolder(modelFiles());
    server.interfere = ({ path }, response, count) =>
      path === "m/config.json" && count < 3 && Boolean(response.writeHead(429, { "retry-after": "7" }).end());
    await store.download(folder);
    expect(waits).toEqual([7000, 7000]);
  });

  test("asks for a long pause makes the download fail at once", async () => {
    serveFolder(modelFiles());
    server.interfere = (_asked, response) => Boolean(response.writeHead(429, { "retry-after": "3600" }).end());
    await expect(store.download(folder)).rejects.toEqual(failure("model_download_failed", "in 3600 s"));
    expect(waits).toEqual([]);
  });

  test("fails for a while is retried with growing pauses; one that always fails makes the download fail", async () => {
    serveFolder(modelFiles());
    server.interfere = ({ path }, response, count) =>
      path === "m/config.json" && count < 4 && Boolean(response.writeHead(503).end());
    await store.download(folder);
    expect(waits).toEqual([500, 1000, 2000]);
    await store.delete(folder);
    server.interfere = (_asked, response) => Boolean(response.writeHead(500, "Oops").end());
    await expect(store.download(folder)).rejects.toEqual(failure("model_download_failed", "500 Oops"));
  });

  test("has replaced the file since the download began makes it start over", async () => {
    const before = largeWeights(20);
    serveFolder(modelFiles(before));
    const controller = new AbortController();
    abortAfter(5 * 2 ** 20, controller);
    await expect(store.download(folder, { signal: controller.signal })).rejects.toThrow("enough");
    const after = before.slice();
    after.fill(7, after.length - 1000);
    serveFolder(modelFiles(after));
    await openStore().download(folder);
    const tail = 5 * 2 ** 21;
    expect(sameBytes((await storedBytes(folder, WEIGHTS)).subarray(-tail), after.subarray(-tail))).toBe(true);
  });

  test("keeps changing its file makes the download fail", async () => {
    const weights = largeWeights(20);
    serveFolder(modelFiles(weights));
    server.interfere = ({ path }) => {
      weights[weights.length - 1]! += 1;
      if (path === `m/${WEIGHTS}`) server.files.set(path, weights.slice());
    };
    await expect(store.download(folder)).rejects.toEqual(failure("model_download_failed", "keep changing"));
  });

  test("sends the wrong range makes the download fail", async () => {
    const weights = largeWeights(20);
    serveFolder(modelFiles(weights));
    server.interfere = ({ range }, response) => {
      if (range === null || range.startsWith("bytes=0-")) return false;
      response.writeHead(206, { "content-range": `bytes 0-9/${weights.length}` }).end(new Uint8Array(10));
      return true;
    };
    await expect(store.download(folder)).rejects.toMatchObject({ code: "model_download_failed" });
    expect(await store.open(folder)).toBeNull();
  });
});

describe("a full disk", () => {
  test("makes a download fail before it starts if the browser reports the free space", async () => {
    serveFolder(modelFiles(largeWeights(20)));
    disk.freeBytes = 2 ** 20;
    await expect(store.download(folder)).rejects.toEqual(failure("storage_full", "are free"));
    expect(server.bytesRequested(`m/${WEIGHTS}`)).toBeLessThan(2 ** 17);
  });

  test("during a download keeps the received bytes, and the download resumes when there is room", async () => {
    serveFolder(modelFiles(largeWeights(20)));
    const says = { freeBytes: Infinity };
    store = openStore(10_000, says);
    disk.freeBytes = 9 * 2 ** 20;
    await expect(store.download(folder)).rejects.toEqual(failure("storage_full", "resumes where it stopped"));
    expect((await store.list())[0]).toMatchObject({ status: "partial" });
    disk.freeBytes = Infinity;
    expect(await openStore().download(folder)).toMatchObject({ status: "whole" });
  });
});

test("leftovers of a crash without a plan, or with a truncated manifest, are no model", async () => {
  serveFolder(modelFiles());
  await store.download(folder);
  for await (const model of root.values() as AsyncIterable<FileSystemDirectoryHandle>) {
    const manifest = (await model.getFileHandle("manifest.json")) as unknown as { bytes: Uint8Array };
    manifest.bytes = manifest.bytes.slice(0, -1);
  }
  expect(await store.open(folder)).toBeNull();
  expect(await store.list()).toEqual([]);
  expect(await store.download(folder)).toMatchObject({ status: "whole" });
});
