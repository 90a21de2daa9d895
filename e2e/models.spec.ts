// Models of a hub, downloaded into the browser's own storage from a server of another origin.

import { readFileSync } from "node:fs";
import { expect, test, type Page } from "playwright/test";
import type { HubOptions } from "../src/protocol/model-source.ts";
import { ModelServer } from "../tests/fakes/model-server.ts";

type Library = typeof import("../src/index.ts");
type Hub = Required<Pick<HubOptions, "revision" | "hubUrl">>;

const ID = "tests/tiny";
const FOLDER = "public/models/chorus-chat";
const NAMES = ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"];
const FILES = new Map(NAMES.map((name) => [name, new Uint8Array(readFileSync(`${FOLDER}/${name}`))]));
const TOTAL_BYTES = [...FILES.values()].reduce((sum, { length }) => sum + length, 0);

let server: ModelServer;
let hub: Hub;

test.beforeEach(async ({ page }) => {
  server = await ModelServer.start();
  server.serveAsHub(ID, FILES);
  hub = { revision: "main", hubUrl: server.url };
  // Anything that the server itself sends: Chromium lets no page that a test made up (as openBarePage does) ask other
  // servers of this machine.
  await page.goto("./models/chorus-chat/config.json");
});
test.afterEach(() => server.close());

/** Runs in the page, with the built library. */
async function inPage<T>(
  page: Page,
  run: (given: { library: Library; id: string; hub: Hub }) => Promise<T>,
): Promise<T> {
  const given = await page.evaluateHandle(
    async ({ id, hub }) => {
      const library = (await import(new URL("/lib/chorus.js", location.href).href)) as Library;
      return { library, id, hub };
    },
    { id: ID, hub },
  );
  return (await given.evaluate(run)) as T;
}

test("a model of the hub is downloaded once, kept over a reload, and answers offline", async ({ page }) => {
  const answer = () =>
    inPage(page, async ({ library: { createEngine }, id: model, hub }) => {
      const engine = await createEngine({ backend: "cpu", model, ...hub });
      const { choices } = await engine.chat.completions.create({
        messages: [{ role: "user", content: "What is the capital of France?" }],
        temperature: 0,
      });
      await engine.dispose();
      return choices[0]?.message.content;
    });
  expect(await answer()).toContain("Paris");
  const stored = await inPage(page, ({ library }) => library.models.list());
  expect(stored).toEqual([
    expect.objectContaining({ model: ID, status: "whole", commit: "c0ffee0", totalBytes: TOTAL_BYTES }),
  ]);

  await server.close();
  await page.reload();
  expect(await answer()).toContain("Paris");
});

test("a download resumes where it stopped after an abort or a closed page", async ({ page }) => {
  // Nothing is sent beyond the first half of the weights.
  const half = 4_000_000;
  const weights = `${ID}/resolve/c0ffee0/model.safetensors`;
  server.interfere = ({ path, range }, response) => {
    if (path !== weights || range?.startsWith("bytes=0-65535") === true) return;
    const size = FILES.get("model.safetensors")?.length ?? 0;
    const [, begin = "0", end = "0"] = /bytes=(\d+)-(\d+)/.exec(range ?? "") ?? [];
    if (Number(begin) > 0) return false;
    response.writeHead(206, {
      "content-range": `bytes ${begin}-${end}/${size}`,
      "content-length": Number(end) + 1 - Number(begin),
    });
    response.write(FILES.get("model.safetensors")?.subarray(0, half));
    return true;
  };
  const aborted = await inPage(page, async ({ library: { models }, id: model, hub }) => {
    const controller = new AbortController();
    const onProgress = ({ receivedBytes }: { receivedBytes: number }) => {
      if (receivedBytes > 3_000_000) controller.abort();
    };
    const error = await models
      .download(model, { ...hub, onProgress, signal: controller.signal })
      .catch((thrown: Error) => thrown.name);
    return { error, list: await models.list() };
  });
  expect(aborted.error).toBe("AbortError");
  expect(aborted.list).toEqual([expect.objectContaining({ model: ID, status: "partial" })]);
  expect(aborted.list[0]?.receivedBytes).toBeGreaterThan(3_000_000);

  await page.reload();
  server.interfere = () => undefined;
  server.requested.length = 0;
  const first = await inPage(page, async ({ library: { models }, id: model, hub }) => {
    let reported: number | undefined;
    await models.download(model, { ...hub, onProgress: ({ receivedBytes }) => void (reported ??= receivedBytes) });
    return reported;
  });
  expect(first).toBe(aborted.list[0]?.receivedBytes);
  expect(server.bytesRequested(weights)).toBeLessThan(TOTAL_BYTES - 3_000_000);
});

test("an estimate says how much memory a model needs and whether it fits; delete removes it", async ({ page }) => {
  const seen = await inPage(page, async ({ library: { models }, id: model, hub }) => {
    const before = await models.estimate(model, { backend: "webgpu", ...hub, dtype: "f32" });
    const tooMuch = await models.estimate(model, { backend: "webgpu", ...hub, numGpuBlocks: 2 ** 24 });
    await models.download(model, hub);
    const after = await models.estimate(model, { backend: "webgpu", ...hub, dtype: "q4" });
    await models.delete(model, hub);
    return { before, tooMuch, after, list: await models.list() };
  });
  expect(seen.before).toMatchObject({ downloadBytes: TOTAL_BYTES, storedBytes: TOTAL_BYTES, problem: null });
  expect(seen.before.freeBytes).toBeGreaterThan(TOTAL_BYTES);
  expect(seen.tooMuch.problem).toMatchObject({ code: "out_of_memory", param: "numGpuBlocks" });
  expect(seen.after.downloadBytes).toBe(0);
  expect(seen.after.weightBytes).toBeLessThan(seen.before.weightBytes / 3);
  expect(seen.before.weightBytesByDtype).toMatchObject({ f32: seen.before.weightBytes, q4: seen.after.weightBytes });
  expect(seen.list).toEqual([]);
});

test("failures are typed errors that say what to do", async ({ page }) => {
  const seen = await inPage(page, async ({ library: { models, createEngine }, id: model, hub }) => {
    const errorOf = (promise: Promise<unknown>) =>
      promise.then(
        () => null,
        ({ code, param, message }: { code: string; param: string; message: string }) => ({ code, param, message }),
      );
    return {
      missing: await errorOf(models.download("tests/nothing", hub)),
      badToken: await errorOf(models.download(model, { ...hub, token: "" })),
      tooMuch: await errorOf(createEngine({ backend: "webgpu", model, ...hub, numGpuBlocks: 2 ** 24 })),
      list: await models.list(),
    };
  });
  expect(seen.missing).toMatchObject({ code: "model_not_found", param: "config.json" });
  expect(seen.badToken).toMatchObject({ code: "invalid_value", param: "token" });
  expect(seen.tooMuch).toMatchObject({ code: "out_of_memory", param: "numGpuBlocks" });
  // The error came before anything was fetched.
  expect(seen.list).toEqual([]);
});
