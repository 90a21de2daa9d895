import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";

import type { ChorusEngine, CreateEngineOptions } from "../protocol/engine.ts";
import { ChorusError } from "../protocol/errors.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";
import { ModelServer } from "../../tests/fakes/model-server.ts";
import { serve } from "./serve.ts";

const FOLDER = "public/models/chorus-chat";
const CHAT = { messages: [{ role: "user", content: "Hello" }], max_tokens: 4, ignore_eos: true };

let fake: FakeModel;
beforeEach(async () => void (fake = await openFakeModel()));

/** A server that a test starts and ends. */
function start(
  line: string,
  createEngine: (options: CreateEngineOptions) => Promise<ChorusEngine> = async () => fake.engine,
  env = {},
) {
  let printed = "";
  let end: (signal: string) => void = () => undefined;
  const created: CreateEngineOptions[] = [];
  const exitCode = serve(line.split(" "), {
    env,
    print: (text) => (printed += text),
    printError: (text) => (printed += text),
    createEngine(options) {
      created.push(options);
      return createEngine(options);
    },
    openWebGpu: async () => ({ reason: "no driver was found" }),
    ended: new Promise((resolve) => (end = resolve)),
  });
  const url = async () => {
    await expect.poll(() => printed).toContain("Serving at");
    return /Serving at (\S+)\/v1/.exec(printed)?.[1] ?? "";
  };
  return { exitCode, url, created, printed: () => printed, end: () => end("SIGTERM") };
}

const post = (url: string, body: object, headers = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });

describe("a server", () => {
  it("says what runs where and why, and answers until it is ended", async () => {
    const server = start(`--model ${FOLDER} --port 0`);
    const url = await server.url();
    expect(server.printed()).toContain("chorus-chat in f32 on Fake (no WebGPU: no driver was found)");
    const [options] = server.created;
    expect(options).toMatchObject({ worker: false });
    expect(await (await fetch(url)).text()).toMatch(/^Chorus .* serves chorus-chat\./);
    expect((options?.model as File[]).map(({ name }) => name)).toContain("model.safetensors");
    expect((await post(url, CHAT)).status).toBe(200);
    expect((await post(url, CHAT, { "content-type": "text/plain" })).status).toBe(415);
    server.end();
    expect(await server.exitCode).toBe(0);
    await expect(fetch(`${url}/health`)).rejects.toThrow(/fetch failed/);
    await expect(fake.engine.stats()).rejects.toMatchObject({ code: "engine_disposed" });
  });

  it("drains: what is in flight is finished, what comes then is refused", async () => {
    const server = start(`--model ${FOLDER} --port 0`);
    const url = await server.url();
    fake.pause();
    const requested = post(url, { ...CHAT, stream: true });
    await expect.poll(async () => (await fake.engine.stats()).num_requests_running).toBe(1);
    server.end();
    await expect.poll(server.printed).toContain("SIGTERM: no new requests");
    expect((await post(url, CHAT)).status).toBe(503);
    fake.resume();
    expect(await (await requested).text()).toMatch(/data: \[DONE\]\n\n$/);
    expect(await server.exitCode).toBe(0);
  });

  it("answers under the names that it was given, whole and streamed, and logs requests if asked to", async () => {
    const server = start(`--model ${FOLDER} --port 0 --served-model-name gpt-4 --served-model-name b/c --log-requests`);
    const url = await server.url();
    const list = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(["gpt-4", "b/c"]);
    expect((await fetch(`${url}/v1/models/b/c`)).status).toBe(200);
    expect(await (await post(url, { ...CHAT, model: "b/c" })).json()).toMatchObject({ model: "b/c" });
    expect(await (await post(url, CHAT)).json()).toMatchObject({ model: "gpt-4" });
    expect(await (await post(url, { ...CHAT, model: "b/c", stream: true })).text()).toContain('"model":"b/c"');
    expect((await post(url, { ...CHAT, model: "gpt-5" })).status).toBe(404);
    expect(server.printed()).toMatch(/T\S+Z POST \/v1\/chat\/completions 404 \d+ ms\n/);
    server.end();
    await server.exitCode;
  });

  it("takes an address of the hub and a revision", async () => {
    const [hub, home] = await Promise.all([ModelServer.start(), mkdtemp(join(tmpdir(), "chorus-serve-"))]);
    const files = new Map([
      ["config.json", new TextEncoder().encode("{}")],
      ["model.safetensors", new Uint8Array(7)],
    ]);
    hub.serveAsHub("owner/name", files, { commit: "decade5" });
    const address = "https://huggingface.co/owner/name/tree/decade5";
    const server = start(`--model ${address} --port 0 --max-num-seqs 2`, undefined, {
      HF_HOME: home,
      HF_ENDPOINT: hub.url,
    });
    await server.url();
    expect(server.created[0]).toMatchObject({ maxNumSeqs: 2 });
    expect(hub.requested[0]?.path).toContain("api/models/owner/name/revision/decade5");
    server.end();
    await server.exitCode;
    await hub.close();
    await rm(home, { recursive: true });
  });

  it("wants the key that it was given, and passes the backend on", async () => {
    const server = start(`--model ${FOLDER} --port 0 --api-key secret --backend cpu`);
    const url = await server.url();
    expect(server.created[0]).toMatchObject({ backend: "cpu" });
    expect((await post(url, CHAT)).status).toBe(401);
    expect((await post(url, CHAT, { authorization: "Bearer secret" })).status).toBe(200);
    server.end();
    await server.exitCode;
  });

  it.each([
    ["--help", 0, /^Usage: npm run serve/],
    ["--version", 0, /^\d+\.\d+\.\d+\n$/],
    ["--model nowhere", 2, /^There is no folder nowhere/],
    ["--model src", 2, /it has no config\.json/],
    ["--model package.json", 2, /is a file/],
  ])("is not started for %s", async (line, code, message) => {
    const server = start(line);
    expect([await server.exitCode, server.printed()]).toEqual([code, expect.stringMatching(message)]);
    expect(server.created).toEqual([]);
  });

  it("serves a model of the hub from its cache's folder", async () => {
    const [hub, home] = await Promise.all([ModelServer.start(), mkdtemp(join(tmpdir(), "chorus-serve-"))]);
    const files = new Map([
      ["config.json", new TextEncoder().encode("{}")],
      ["model.safetensors", new Uint8Array(70_000).fill(7)],
    ]);
    hub.serveAsHub("owner/name", files);
    const server = start("--model owner/name --port 0", undefined, { HF_HOME: home, HF_ENDPOINT: hub.url });
    await server.url();
    expect(server.printed()).toMatch(/\rowner\/name \[=+\] 100% of 0 MB/);
    const given = server.created[0]?.model as File[];
    expect(given.map((file) => file.webkitRelativePath)).toEqual(["name/config.json", "name/model.safetensors"]);
    expect(new Uint8Array((await given[1]?.arrayBuffer()) ?? [])).toEqual(files.get("model.safetensors"));
    server.end();
    await server.exitCode;
    await hub.close();
    await rm(home, { recursive: true });
  });

  it("opens only what a model needs, and names what it can't open", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chorus-serve-"));
    for (const name of ["config.json", "model.safetensors", "notes.txt"]) await writeFile(join(folder, name), "{}");
    for (const name of ["README.md", "model-00001-of-00002.safetensors"]) await symlink("nowhere", join(folder, name));
    const server = start(`--model ${folder} --port 0`);
    await server.url();
    const names = (server.created[0]?.model as File[]).map(({ name }) => name);
    expect(names.sort()).toEqual(["config.json", "model.safetensors"]);
    server.end();
    await server.exitCode;
    await symlink("nowhere", join(folder, "tokenizer.json"));
    const broken = start(`--model ${folder} --port 0`);
    expect([await broken.exitCode, broken.printed()]).toEqual([
      2,
      expect.stringContaining("tokenizer.json can't be read"),
    ]);
    await rm(folder, { recursive: true });
  });

  it("says why a model can't be loaded, without a stack", async () => {
    const server = start(`--model ${FOLDER} --port 0`, () =>
      Promise.reject(new ChorusError("model_not_found", "There is no such model.", "model")),
    );
    expect([await server.exitCode, server.printed()]).toEqual([
      1,
      expect.stringMatching(/\nThere is no such model\.\n$/),
    ]);
  });

  it("listens first, and answers 503 until the model is there", async () => {
    let load: (engine: ChorusEngine) => void = () => undefined;
    const server = start(
      `--model ${FOLDER} --port 0 --api-key secret`,
      () => new Promise((resolve) => (load = resolve)),
    );
    await expect.poll(server.printed).toContain("Listening at");
    const url = /Listening at (\S+);/.exec(server.printed())?.[1] ?? "";
    const early = await fetch(`${url}/health`);
    expect([early.status, await early.json()]).toMatchObject([503, { error: { code: "model_loading" } }]);
    expect((await post(url, CHAT)).status).toBe(401);
    load(fake.engine);
    expect(await server.url()).toBe(url);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    server.end();
    await server.exitCode;
  });

  it("loads nothing where its port is taken", async () => {
    const first = start(`--model ${FOLDER} --port 0`);
    const { port } = new URL(await first.url());
    const second = start(`--model ${FOLDER} --port ${port}`);
    expect([await second.exitCode, second.printed()]).toEqual([1, expect.stringContaining("That port is taken")]);
    expect(second.created).toEqual([]);
    first.end();
    await first.exitCode;
  });

  it.each(["loads", "is downloaded"])("ends at the first signal while its model %s", async (what) => {
    const [hub, home] = await Promise.all([ModelServer.start(), mkdtemp(join(tmpdir(), "chorus-serve-"))]);
    hub.serveAsHub("owner/name", new Map([["model.safetensors", new Uint8Array(70_000)]]));
    // Sends a beginning, and then no more.
    hub.interfere = ({ path }, response) => path.endsWith("model.safetensors") && response.write("a");
    const model = what === "loads" ? FOLDER : "owner/name";
    let signal: AbortSignal | undefined;
    const never = (options: CreateEngineOptions) => {
      signal = options.signal;
      return new Promise<ChorusEngine>(() => undefined);
    };
    const server = start(`--model ${model} --port 0`, never, { HF_HOME: home, HF_ENDPOINT: hub.url });
    await expect.poll(() => signal !== undefined || hub.requested.length > 1).toBe(true);
    server.end();
    expect(await server.exitCode).toBe(0);
    expect(server.printed()).toContain("SIGTERM: loading is cancelled.");
    if (what === "loads") expect(signal?.aborted).toBe(true);
    await hub.close();
    await rm(home, { recursive: true });
  });
});
