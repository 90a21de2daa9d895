import { mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { ModelServer } from "../../tests/fakes/model-server.ts";
import { hubCacheFolder, openHubModel } from "./hub-cache.ts";

const FILES = new Map([
  ["config.json", new TextEncoder().encode("{}")],
  ["tokenizer.json", new TextEncoder().encode('{"a": 1}')],
  ["model.safetensors", Uint8Array.from({ length: 200_000 }, (_, i) => i % 251)],
  ["pytorch_model.bin", new Uint8Array(10)],
  ["onnx/model.onnx", new Uint8Array(10)],
]);

let hub: ModelServer;
let home: string;
/** Of a hub that may be closed. */
let url: string;
beforeEach(async () => {
  waits = [];
  hub = await ModelServer.start();
  url = hub.url;
  hub.serveAsHub("owner/name", FILES);
  home = await mkdtemp(join(tmpdir(), "chorus-hub-"));
});
afterEach(async () => {
  await hub.close();
  await rm(home, { recursive: true });
});

const open = async (id = "owner/name", reported: number[] = []) => {
  const env = { HF_HOME: home, HF_ENDPOINT: url };
  return openHubModel(id, { env, wait, onProgress: (bytes) => reported.push(bytes) });
};
let waits: number[] = [];
const wait = async (ms: number) => void waits.push(ms);
const requested = (name: string) => hub.requested.filter(({ path }) => path.endsWith(name)).length;

describe("the hub's cache", () => {
  it("has huggingface_hub's layout, and only what a model is loaded from", async () => {
    const reported: number[] = [];
    const folder = await open("owner/name", reported);
    expect(folder).toBe(join(home, "hub", "models--owner--name", "snapshots", "c0ffee0"));
    expect((await readdir(folder)).sort()).toEqual(["config.json", "model.safetensors", "tokenizer.json"]);
    expect(await readlink(join(folder, "model.safetensors"))).toMatch(/^\.\.\/\.\.\/blobs\/[\da-f]{64}$/);
    expect(new Uint8Array(await readFile(join(folder, "model.safetensors")))).toEqual(FILES.get("model.safetensors"));
    expect(await readFile(join(home, "hub", "models--owner--name", "refs", "main"), "utf8")).toBe("c0ffee0");
    expect(reported).toEqual([...reported].sort((a, b) => a - b));
    expect(reported.at(-1)).toBe(200_000 + 2 + 8);
  });

  it("has a GGUF file where one is asked for, or nothing else is there, also without the hub", async () => {
    const [q4, q8, other] = [new Uint8Array([1, 2, 3, 4]), new Uint8Array([8]), new Uint8Array([9])];
    hub.serveAsHub(
      "owner/name",
      new Map([...FILES, ["x-Q4_0.gguf", q4], ["deep/x-Q8_0.gguf", q8], ["other/x-Q8_0.gguf", other]]),
    );
    const folder = join(home, "hub", "models--owner--name", "snapshots", "c0ffee0");
    const named = (gguf?: string) => {
      const env = { HF_HOME: home, HF_ENDPOINT: url };
      return openHubModel("owner/name", { env, wait, gguf, onProgress: () => undefined });
    };
    expect(await named("q4_0")).toBe(join(folder, "x-Q4_0.gguf"));
    expect(requested("model.safetensors")).toBe(0);
    expect(await named("deep/x-Q8_0.gguf")).toBe(join(folder, "x-Q8_0.gguf"));
    expect(new Uint8Array(await readFile(join(folder, "x-Q8_0.gguf")))).toEqual(q8);
    expect(new Uint8Array(await readFile(await named("other/x-Q8_0.gguf")))).toEqual(other);
    hub.serveAsHub("owner/gguf", new Map([["x-Q4_0.gguf", q4]]));
    expect(await open("owner/gguf")).toBe(join(folder.replace("owner--name", "owner--gguf"), "x-Q4_0.gguf"));
    await expect(named("q5_0")).rejects.toThrow("there are: Q4_0, Q8_0");
    await hub.close();
    expect(await named("Q4_0")).toBe(join(folder, "x-Q4_0.gguf"));
  });

  it("is downloaded once, and used without the hub", async () => {
    const folder = await open();
    expect(await open()).toBe(folder);
    expect(requested("model.safetensors")).toBe(1);
    await hub.close();
    expect(await open()).toBe(folder);
    await rm(join(folder, "model.safetensors"));
    await expect(open()).rejects.toThrow(/Check the connection/);
    hub = await ModelServer.start();
  });

  it("resumes what broke off", async () => {
    const bytes = FILES.get("model.safetensors") ?? new Uint8Array();
    const reported: number[] = [];
    hub.interfere = ({ path, range }, response, count) => {
      if (!path.endsWith("model.safetensors") || count > 3) return false;
      const begin = Number(/\d+/.exec(range ?? "0")?.[0]);
      response.writeHead(range === null ? 200 : 206, { "content-length": bytes.length - begin });
      response.write(bytes.subarray(begin, begin + 50_000));
      const breaks = setInterval(() => {
        if ((reported.at(-1) ?? 0) < begin + 50_000) return;
        clearInterval(breaks);
        response.destroy();
      }, 5);
      return true;
    };
    const folder = await open("owner/name", reported);
    expect(new Uint8Array(await readFile(join(folder, "model.safetensors")))).toEqual(bytes);
    expect(hub.requested.filter(({ path }) => path.endsWith("model.safetensors")).map(({ range }) => range)).toEqual([
      null,
      "bytes=50000-199999",
      "bytes=100000-199999",
      "bytes=150000-199999",
    ]);
  });

  it.each([429, 408, 500, 503])(
    "tries again after a %i, of the list and of a file, when the hub says",
    async (status) => {
      hub.interfere = (_asked, response, count) =>
        count === 1 && Boolean(response.writeHead(status, { "retry-after": "7" }).end());
      const folder = await open();
      expect(await readdir(folder)).toHaveLength(3);
      expect(waits).toEqual([7000, 7000, 7000, 7000]);
    },
  );

  it("is used where the hub is busy", async () => {
    const folder = await open();
    hub.interfere = (_asked, response) => Boolean(response.writeHead(503).end());
    expect(await open()).toBe(folder);
  });

  it("keeps what has come when its download is aborted", async () => {
    const controller = new AbortController();
    const bytes = FILES.get("model.safetensors") ?? new Uint8Array();
    // Sends a beginning, and then no more.
    hub.interfere = ({ path }, response, count) =>
      path.endsWith("model.safetensors") && count === 1 && (response.write(bytes.subarray(0, 50_000)), true);
    const env = { HF_HOME: home, HF_ENDPOINT: url };
    const onProgress = (received: number) => received > 10_000 && controller.abort(new Error("enough"));
    await expect(openHubModel("owner/name", { env, signal: controller.signal, onProgress })).rejects.toThrow("enough");
    await open();
    expect(hub.requested.at(-1)?.range).toMatch(/^bytes=[1-9]/);
  });

  it("downloads all again where the server knows no ranges", async () => {
    hub.takesRanges = false;
    hub.interfere = ({ path }, response, count) => {
      if (!path.endsWith("model.safetensors") || count > 1) return false;
      response.writeHead(200, { "content-length": 200_000 });
      response.write(Buffer.alloc(50), () => response.destroy());
      return true;
    };
    const folder = await open();
    expect(new Uint8Array(await readFile(join(folder, "model.safetensors")))).toEqual(FILES.get("model.safetensors"));
  });

  it("refuses a file with another hash, and forgets it", async () => {
    const good = hub.files.get("owner/name/resolve/c0ffee0/model.safetensors");
    hub.files.set("owner/name/resolve/c0ffee0/model.safetensors", new Uint8Array(200_000));
    await expect(open()).rejects.toThrow(/owner\/name\/.*model\.safetensors arrived damaged/);
    if (good) hub.files.set("owner/name/resolve/c0ffee0/model.safetensors", good);
    await open();
  });

  it("says what is wrong", async () => {
    await expect(open("owner/other")).rejects.toThrow(/has no list of the files of owner\/other.*HF_TOKEN/);
    hub.serveAsHub("owner/bin", new Map([["config.json", new Uint8Array(2)]]));
    await expect(open("owner/bin")).rejects.toThrow(/no weights as safetensors/);
    hub.files.set("api/models/owner/odd/revision/main", new TextEncoder().encode('{"sha": "../x", "siblings": []}'));
    await expect(open("owner/odd")).rejects.toThrow(/is not the hub's list/);
  });

  it("sends a token to the hub, and gives up after six tries without a byte", async () => {
    hub.interfere = ({ path }, response) => {
      if (!path.endsWith("model.safetensors")) return false;
      response.destroy();
      return true;
    };
    const env = { HF_HOME: home, HF_ENDPOINT: hub.url, HF_TOKEN: "hf_secret" };
    await expect(openHubModel("owner/name", { env, wait, onProgress: () => undefined })).rejects.toThrow(
      /Downloading .*model\.safetensors failed/,
    );
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000]);
    expect(hub.requested.every(({ authorization }) => authorization === "Bearer hf_secret")).toBe(true);
  });

  it("takes a shard only if the model is in shards", async () => {
    const weightMap = JSON.stringify({ weight_map: { a: "model-00001-of-00001.safetensors" } });
    const shards = new Map([
      ["config.json", FILES.get("config.json") ?? new Uint8Array()],
      ["model.safetensors.index.json", new TextEncoder().encode(weightMap)],
      ["model-00001-of-00001.safetensors", new Uint8Array(70_000)],
    ]);
    hub.serveAsHub("owner/shards", shards);
    const folder = await open("owner/shards");
    expect(await readdir(folder)).toHaveLength(3);
    await hub.close();
    expect(await open("owner/shards")).toBe(folder);
    await writeFile(join(folder, "model.safetensors.index.json"), "{}");
    await expect(open("owner/shards")).rejects.toThrow(/Check the connection/);
    hub = await ModelServer.start();
  });
});

it("is where huggingface_hub's variables say", () => {
  expect(hubCacheFolder({ HF_HUB_CACHE: "/a" })).toBe("/a");
  expect(hubCacheFolder({ HF_HOME: "/b" })).toBe(join("/b", "hub"));
  expect(hubCacheFolder({ XDG_CACHE_HOME: "/c" })).toBe(join("/c", "huggingface", "hub"));
  expect(hubCacheFolder({})).toMatch(/\.cache.huggingface.hub$/);
});
