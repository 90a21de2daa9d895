// A model goes to the GPU band by band: however large it is, JavaScript holds a small part of it at any time.

import { expect, test, type Page } from "playwright/test";
import type { HubOptions } from "../src/protocol/model-source.ts";
import { ModelServer } from "../tests/fakes/model-server.ts";
import { gpt2Size } from "../lab/model/model-sizes.ts";
import { startHeapMeter } from "../lab/runs/heap-meter.ts";
import { makeLargeModel, type LargeModel } from "../tests/models/large-model.ts";

const MIB = 2 ** 20;
/** 101 MiB in f32, the largest tensors 4 MiB each. */
const SIZE = gpt2Size(8, 512, 8, 2048, 256);
const ID = "tests/large";

let server: ModelServer;
let model: LargeModel;

test.beforeAll(async () => {
  model = await makeLargeModel(SIZE);
  server = await ModelServer.start();
  for (const [name, bytes] of model.files) server.files.set(`large/${name}`, bytes);
  server.serveAsHub(ID, model.files);
});
test.afterAll(() => server.close());

test.beforeEach(async ({ page }) => {
  // Anything that the server itself sends, as in models.spec.ts.
  await page.goto("./models/chorus-chat/config.json");
});

/** The most that page and workers held while the model loaded, beyond what the page held before: bytes. */
async function peakOfLoad(page: Page, source: HubOptions & { model: string }): Promise<number> {
  const library = await page.evaluateHandle(
    () => import(new URL("/lib/chorus.js", location.href).href) as Promise<typeof import("../src/index.ts")>,
  );
  const meter = await startHeapMeter(page);
  const weightBytes = await library.evaluate(
    async ({ createEngine }, options) => {
      const engine = await createEngine(options);
      const { weightBytes } = engine.model;
      await engine.dispose();
      return weightBytes;
    },
    { ...source, maxNumSeqs: 1, maxNumBatchedTokens: 32, maxModelLen: 64, numGpuBlocks: 8, backend: "webgpu" as const },
  );
  expect(weightBytes).toBeGreaterThan(model.weightBytes / 2);
  const { peak, samples } = await meter.stop();
  expect(samples).toBeGreaterThan(10);
  return peak.bytes;
}

test("the meter sees what a worker holds", async ({ page }) => {
  const meter = await startHeapMeter(page);
  const worker = await page.evaluateHandle(async (bytes) => {
    const source = `const held = new Uint8Array(${bytes}); postMessage(0); onmessage = () => postMessage(held.length)`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    await new Promise((resolve) => worker.addEventListener("message", resolve, { once: true }));
    return worker;
    // A little more than is looked for: what the page itself held before may be collected meanwhile.
  }, 82 * MIB);
  await expect.poll(async () => (await meter.settled()).bytes).toBeGreaterThan(80 * MIB);
  await worker.evaluate((worker) => worker.terminate());
  const { peak } = await meter.stop();
  expect(peak.bytes).toBeGreaterThan(80 * MIB);
});

for (const [from, source] of [
  ["a folder", () => ({ model: `${server.url}large/` })],
  ["a hub, stored on its way", () => ({ model: ID, hubUrl: server.url })],
] as const) {
  test(`loading a large model from ${from} holds less than its largest tensor and 64 MiB`, async ({ page }) => {
    const bound = model.largestTensorBytes + 64 * MIB;
    // Else a loader that holds all of it would pass.
    expect(model.weightBytes).toBeGreaterThan(1.4 * bound);
    expect(await peakOfLoad(page, source())).toBeLessThan(bound);
  });
}
