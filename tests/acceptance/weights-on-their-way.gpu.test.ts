// A model whose weights are still being downloaded while its kernels compile.

import { afterEach, expect, it } from "vitest";

import { createEngine } from "../../src/index.ts";
import type { LoadProgress } from "../../src/protocol/reports.ts";
import { withCommonDevice } from "../gpu/one-device.ts";

const gpu = await withCommonDevice();
const { fetch } = globalThis;
afterEach(() => void (globalThis.fetch = fetch));

const MODEL = "/tests/fixtures/gpt2-tiny/";
const WEIGHTS = "model.safetensors";
/** More than the header. */
const SENT_AT_ONCE = 2 ** 16;

/** Lets the server send the beginning of the weights; then what `rest` says. Returns how often they were asked for. */
function hold(rest: (bytes: Uint8Array) => Promise<Uint8Array>): () => number {
  let numRequests = 0;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (typeof input !== "string" || !input.endsWith(WEIGHTS)) return response;
    if (++numRequests > 1) return new Response("gone", { status: 404 });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const parts = [async () => bytes.slice(0, SENT_AT_ONCE), () => rest(bytes.slice(SENT_AT_ONCE))];
    const body = new ReadableStream({
      async pull(controller) {
        const part = parts.shift();
        if (part) controller.enqueue(await part());
        else controller.close();
      },
    });
    return new Response(body, { headers: { "content-length": `${bytes.length}` } });
  };
  return () => numRequests;
}

const load = (onProgress: (progress: LoadProgress) => void = () => undefined) =>
  createEngine({ backend: "webgpu", model: MODEL, worker: false, gpu, onProgress });

async function answer(): Promise<string | undefined> {
  await using engine = await load();
  const { choices } = await engine.completions.create({ prompt: "Once upon a time", max_tokens: 8, temperature: 0 });
  return choices[0]?.text;
}

it("kernels are compiled before all weights are there, which are then read whole", async () => {
  const expected = await answer();
  expect(expected).toMatch(/\w/);
  let compiled = () => {};
  const isCompiled = new Promise<void>((resolve) => (compiled = resolve));
  hold((bytes) => isCompiled.then(() => bytes));
  await using engine = await load(({ stage, done }) => void (stage === "kernels" && done > 5 && compiled()));
  const { choices } = await engine.completions.create({ prompt: "Once upon a time", max_tokens: 8, temperature: 0 });
  expect(choices[0]?.text).toBe(expected);
});

it("weights that break off for good are a download that failed", async () => {
  const numRequests = hold(() => Promise.reject(new TypeError("cut off")));
  const failure = {
    code: "model_download_failed",
    param: WEIGHTS,
    message: expect.stringContaining("no longer there"),
  };
  await expect(load()).rejects.toMatchObject(failure);
  expect(numRequests()).toBe(2);
});
