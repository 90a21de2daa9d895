import { readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { expect, it, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { describeModel } from "../../models/families.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { openBundledHelper } from "../../../tests/cpu/bundled-helper.ts";
import { greedyTokens } from "../../../tests/gpu/runner-runs.ts";
import { openDecoderFixture } from "../../../tests/models/decoder-fixtures.ts";
import { readFixture } from "../../../tests/models/fixtures.ts";
import type { LoadedRunner } from "../backend.ts";
import { cpuBackend } from "./cpu-backend.ts";

const ONE_THREAD = { most: 1, openHelper: null };
const weights = (await readFixture("gpt2-tiny")).weights();
const { model } = weights;
const resolve = (config: EngineConfig) => resolveEngineConfig({ dtype: "f32", ...config }, model.shape);

it("can't be had where WebAssembly has no SIMD, and says so in a sentence", async () => {
  const backend = cpuBackend(ONE_THREAD, { hasSimd: false, hasRelaxedSimd: false });
  await expect(backend.open()).rejects.toMatchObject({ code: "wasm_unavailable", message: /SIMD/ });
});

it("can't be had where the page's policy forbids WebAssembly, and says what to add", async () => {
  vi.spyOn(WebAssembly, "compile").mockRejectedValueOnce(new WebAssembly.CompileError("violates the policy"));
  await expect(cpuBackend(ONE_THREAD).open()).rejects.toMatchObject({
    code: "wasm_unavailable",
    message: /add 'wasm-unsafe-eval' to its script-src/,
  });
});

it("computes what is portable where there is no relaxed SIMD", async () => {
  const opened = await cpuBackend(ONE_THREAD, { hasSimd: true, hasRelaxedSimd: false }).open();
  const runner = await opened.load({ weights, engine: resolve({ cpuMath: "fastest" }) });
  expect(runner.adapterName).toBe("CPU, 1 thread");
  runner.dispose();
});

it("keeps a small model's weights as f32, and a larger one's as halves", async () => {
  const opened = await cpuBackend(ONE_THREAD).open();
  const small = describeModel({ model_type: "gpt2", n_embd: 384, n_layer: 6, n_head: 6, vocab_size: 8192 });
  const gpt2 = describeModel({ model_type: "gpt2" });
  expect([small, gpt2].map((each) => opened.defaults(each).dtype)).toEqual(["f32", "f16"]);
});

it("says before a load what would fit", async () => {
  const opened = await cpuBackend(ONE_THREAD).open();
  const tooMuch = { numGpuBlocks: 2 ** 24, kvCacheDtype: "f32" } as const;
  const refusal = () => opened.checkFits(model, resolve(tooMuch));
  expect(refusal).toThrow(expect.objectContaining({ code: "out_of_memory", param: "kvCacheBytes" }) as Error);
  let advice = "";
  try {
    refusal();
  } catch (error) {
    advice = String(error);
  }
  const [, kvCacheBytes] = /kvCacheBytes (\d+) \(/.exec(advice) ?? [];
  expect(() =>
    opened.checkFits(model, resolve({ kvCacheDtype: "f32", kvCacheBytes: Number(kvCacheBytes) })),
  ).not.toThrow();
  const more = { kvCacheDtype: "f32", kvCacheBytes: Math.ceil(Number(kvCacheBytes) * 1.001) } as const;
  expect(() => opened.checkFits(model, resolve(more))).toThrow(/would take/);
});

it("tells a memory that can't be had from other failures", async () => {
  const opened = await cpuBackend(ONE_THREAD).open();
  const Original = WebAssembly.Memory;
  function Memory() {
    throw new RangeError("WebAssembly.Memory(): could not allocate memory");
  }
  Object.assign(WebAssembly, { Memory });
  const loading = opened.load({ weights, engine: resolve({}) }).finally(() => (WebAssembly.Memory = Original));
  await expect(loading).rejects.toMatchObject({ code: "out_of_memory" });
});

/** Returns what the action opens of WebAssembly's memories. Weak: they are there only as long as something else holds them. */
async function memoriesOf(action: () => Promise<void>): Promise<WeakRef<WebAssembly.Memory>[]> {
  const opened: WeakRef<WebAssembly.Memory>[] = [];
  const { Memory } = WebAssembly;
  class Watched extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      opened.push(new WeakRef(this));
    }
  }
  Object.assign(WebAssembly, { Memory: Watched });
  await action().finally(() => Object.assign(WebAssembly, { Memory }));
  return opened;
}

/** Returns how many of these are still held once garbage has been collected. */
function numHeld(memories: readonly WeakRef<WebAssembly.Memory>[]): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return memories.filter((memory) => memory.deref()).length;
}

it("keeps no memory of a runner that nobody holds", async () => {
  const opened = await cpuBackend(ONE_THREAD).open();
  const engine = resolve({ kvCacheBytes: 32 * 2 ** 20 });
  let held: LoadedRunner | null = null;
  const memories = await memoriesOf(async () => {
    for (let i = 0; i < 3; i++) {
      const runner = await opened.load({ weights, engine });
      if (i === 2) held = runner;
      else runner.dispose();
    }
  });
  expect(memories).toHaveLength(3);
  // What isn't disposed of stays, or the test would see nothing.
  await expect.poll(() => numHeld(memories)).toBe(1);
  const last = held as LoadedRunner | null;
  last?.dispose();
  await expect(last?.submit({ ...NOTHING })).rejects.toMatchObject({ code: "engine_disposed" });
});

it("ends its threads after each load, and gives the memory back that they share", async () => {
  let ended = 0;
  const openHelper = () => openBundledHelper("", () => ended++);
  const opened = await cpuBackend({ most: 2, openHelper }).open();
  const engine = resolve({ cpuThreads: 2, kvCacheBytes: 32 * 2 ** 20 });
  const memories = await memoriesOf(async () => {
    for (let i = 0; i < 3; i++) {
      const runner = await opened.load({ weights, engine });
      expect(runner.adapterName).toBe("CPU, 2 threads");
      runner.dispose();
    }
  });
  expect(memories).toHaveLength(3);
  await expect.poll(() => ended).toBe(3);
  await expect.poll(() => numHeld(memories)).toBe(0);
});

it("refuses a number of threads that do not all start, and names its field", async () => {
  let numOpened = 0;
  const openHelper = () => openBundledHelper(++numOpened === 2 ? "throw new Error('no thread today');" : "");
  const opened = await cpuBackend({ most: 2, openHelper }).open();
  await expect(opened.load({ weights, engine: resolve({ cpuThreads: 4 }) })).rejects.toMatchObject({
    code: "invalid_value",
    param: "cpuThreads",
    message: expect.stringMatching(/4 threads .*no thread today.*null/) as string,
  });
});

it("computes on one thread if the helpers start for the trial of numbers of threads, but not after it", async () => {
  let numOpened = 0;
  const openHelper = () => openBundledHelper(++numOpened === 2 ? "throw new Error('no thread today');" : "");
  const opened = await cpuBackend({ most: 2, openHelper }).open();
  // What makes the helpers' script looks at the clock, too.
  (await openBundledHelper()).end();
  // Each time is half as far from the last: in the trial, two threads are the faster ones.
  let left = 1;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => -(left /= 2));
  const runner = await opened.load({ weights, engine: resolve({}) }).finally(() => clock.mockRestore());
  expect(numOpened).toBe(2);
  expect(runner.adapterName).toBe("CPU, 1 thread");
  await expect(runner.submit({ ...NOTHING })).resolves.toMatchObject({ sequences: [] });
  runner.dispose();
});

it("loses the states of sequences where a thread fails, since a step that has changed them can't be computed again", async () => {
  const read = async (path: string) => new Uint8Array(await readFile(`tests/fixtures/${path}`));
  const { weights: stated } = await openDecoderFixture("qwen35", read);
  const openHelper = () => openBundledHelper("Math.floor = () => { throw new Error('out of order'); };");
  const opened = await cpuBackend({ most: 2, openHelper }).open();
  const engine = resolveEngineConfig({ cpuThreads: 2, numGpuBlocks: 64 }, stated.model.shape);
  const runner = await opened.load({ weights: stated, engine });
  const lost = { code: "device_lost", message: expect.stringContaining("thread has failed") as string };
  await expect(greedyTokens(runner, [1, 2, 3], 1)).rejects.toMatchObject(lost);
  runner.dispose();
});

const NOTHING = {
  sequences: [],
  rows: new Uint32Array(),
  samples: [],
  blockTables: [],
  histories: [],
  rules: [],
  masks: [],
};
