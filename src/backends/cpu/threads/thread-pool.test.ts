import { describe, expect, it } from "vitest";

import { openBundledHelper } from "../../../../tests/cpu/bundled-helper.ts";
import { allowRelaxedSimd } from "../../../../tests/cpu/cpu.ts";
import { openCpuModel, type CpuModel, type CpuModelOptions, type TestRow } from "../../../../tests/cpu/cpu-model.ts";
import { UNKNOWN } from "../program/step-memory.ts";
import { ThreadGovernor } from "./thread-governor.ts";
import { help, type HelperMessage, type HelperPlan } from "./thread-body.ts";
import { ThreadPool } from "./thread-pool.ts";

allowRelaxedSimd();

const LLAMA: CpuModelOptions = {
  layers: 2,
  width: 96,
  heads: 6,
  keyHeads: 2,
  inner: 130,
  vocabSize: 300,
  context: 64,
  style: "llama",
  dtype: "q8",
  cacheDtype: "f16",
  math: "portable",
  maxRows: 32,
  maxSlots: 4,
  maxThreads: 4,
  isShared: false,
};
const GPT2: CpuModelOptions = {
  ...LLAMA,
  style: "gpt2",
  keyHeads: 6,
  dtype: "f32",
  cacheDtype: "f32",
  math: "fastest",
};

const openHelper = () => openBundledHelper();

/** A row for each token of a prompt; all sample, so that every row's logits are seen. */
function promptRows(slot: number, length: number): TestRow[] {
  return Array.from({ length }, (_, position) => ({
    token: (slot * 71 + position * 37) % LLAMA.vocabSize,
    position,
    slot,
    samples: true,
  }));
}

async function runOn(pool: ThreadPool, model: CpuModel, rows: readonly TestRow[]): Promise<Uint32Array[]> {
  model.write(rows);
  pool.run();
  return rows.map((_, i) => model.logits(i));
}

describe.each([
  ["Llama's parts in q8 with halves in the cache", LLAMA],
  ["GPT-2's parts in f32", GPT2],
])("%s", (_, options) => {
  it("gives a row the same bits alone, among others, and however its prompt is cut", async () => {
    const model = await openCpuModel(options);
    const pool = await ThreadPool.open(model.plan, { threads: 1, openHelper });
    const prompts = [promptRows(0, 20), promptRows(1, 3), promptRows(2, 9)];
    const alone: Uint32Array[] = [];
    for (const row of prompts.flat()) alone.push(...(await runOn(pool, model, [row])));
    expect(new Set(alone.map((logits) => logits.join())).size).toBe(32);
    expect(await runOn(pool, model, prompts.flat())).toEqual(alone);
    const pieces = [prompts.flat().slice(0, 13), prompts.flat().slice(13, 21), prompts.flat().slice(21)];
    const chunked: Uint32Array[] = [];
    for (const piece of pieces) chunked.push(...(await runOn(pool, model, piece)));
    expect(chunked).toEqual(alone);
  });

  it("goes on with a token that the host does not know yet", async () => {
    const model = await openCpuModel(options);
    const pool = await ThreadPool.open(model.plan, { threads: 1, openHelper });
    await runOn(pool, model, promptRows(1, 5));
    const token = model.token(4);
    const [unknown] = await runOn(pool, model, [{ token: UNKNOWN, position: 5, slot: 1, samples: true }]);
    const [known] = await runOn(pool, model, [{ token, position: 5, slot: 1, samples: true }]);
    expect(unknown).toEqual(known);
  });

  it("gives the same bits and tokens for any number of threads", async () => {
    const results: { logits: Uint32Array[]; tokens: number[] }[] = [];
    for (const threads of [1, 2, 3]) {
      const model = await openCpuModel({ ...options, isShared: true });
      const pool = await ThreadPool.open(model.plan, { threads, openHelper });
      const rows = [...promptRows(0, 20), ...promptRows(3, 7)];
      const logits = await runOn(pool, model, rows);
      const tokens = rows.map((__, i) => model.token(i));
      for (let position = 20; position < 30; position++) {
        logits.push(...(await runOn(pool, model, [{ token: UNKNOWN, position, slot: 0, samples: true }])));
        tokens.push(model.token(0));
      }
      expect(pool.threads).toBe(threads);
      expect(pool.failure).toBe(null);
      await pool.close();
      results.push({ logits, tokens });
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });
});

describe("a helper", () => {
  const rows = promptRows(0, 12);

  async function expected(): Promise<Uint32Array[]> {
    const model = await openCpuModel(LLAMA);
    return runOn(await ThreadPool.open(model.plan, { threads: 1, openHelper }), model, rows);
  }

  it("that can't use its start message says so, and leaves nobody waiting", async () => {
    const messages: HelperMessage[] = [];
    await help({} as HelperPlan, (message) => messages.push(message));
    expect(messages.map(({ type }) => type)).toEqual(["failed"]);
  });

  it("that does not come is missed: the step is computed again by one thread", async () => {
    const model = await openCpuModel({ ...LLAMA, isShared: true });
    const pool = await ThreadPool.open(model.plan, {
      threads: 2,
      // It says that it is ready, and never sees a step begin.
      openHelper: () => openBundledHelper("Atomics.load = () => 0;"),
      maxNaps: 2,
    });
    expect(await runOn(pool, model, rows)).toEqual(await expected());
    expect(pool.threads).toBe(1);
    expect(pool.failure).toBe("another thread has not come");
    await pool.close();
  });

  it("that dies within a step is missed at once", async () => {
    const model = await openCpuModel({ ...LLAMA, isShared: true });
    const pool = await ThreadPool.open(model.plan, {
      threads: 2,
      // Threads share rows by it.
      openHelper: () => openBundledHelper("Math.floor = () => { throw new Error('out of order'); };"),
    });
    expect(await runOn(pool, model, rows)).toEqual(await expected());
    expect(pool.threads).toBe(1);
    expect(pool.failure).toBe("another thread has failed");
    await pool.close();
  });

  it("that can't begin is an error of opening", async () => {
    const model = await openCpuModel({ ...LLAMA, isShared: true });
    const opening = ThreadPool.open(model.plan, {
      threads: 2,
      openHelper: () => openBundledHelper("throw new Error('no memory for a thread');"),
    });
    await expect(opening).rejects.toThrow("no memory for a thread");
  });

  it("that can't begin takes the others with it", async () => {
    const model = await openCpuModel({ ...LLAMA, isShared: true });
    let [numOpened, numEnded] = [0, 0];
    const opening = ThreadPool.open(model.plan, {
      threads: 3,
      openHelper: () =>
        openBundledHelper(numOpened++ === 0 ? "throw new Error('no memory for a thread');" : "", () => numEnded++),
    });
    await expect(opening).rejects.toThrow("no memory for a thread");
    await expect.poll(() => numEnded).toBe(2);
  });
});

describe("the governor", () => {
  it("rests the helpers where one thread alone would be faster, and tries them again", () => {
    const governor = new ThreadGovernor(4);
    const crowded = { threads: 4, stepMs: 8, waitedMs: 6.5 };
    for (let i = 0; i < 3; i++) governor.report(crowded);
    governor.report({ threads: 4, stepMs: 8, waitedMs: 6.3 });
    expect(governor.next()).toBe(4);
    for (let i = 0; i < 4; i++) governor.report(crowded);
    const counts = Array.from({ length: 70 }, () => governor.next());
    expect(counts.indexOf(4)).toBe(64);
    expect(new Set(counts.slice(0, 64))).toEqual(new Set([1]));
  });

  it("keeps them however long their phases are: a large model's threads fall asleep at most meetings", () => {
    const governor = new ThreadGovernor(2);
    for (let i = 0; i < 100; i++) governor.report({ threads: 2, stepMs: 40, waitedMs: 8 });
    expect(governor.next()).toBe(2);
  });
});
