import { beforeEach, describe, expect, it } from "vitest";

import { defineKernel } from "./define-kernel.ts";
import type { KernelCompiler } from "./kernel.ts";
import { LaterPipelines, Rank, type LaterPipeline } from "./later-pipelines.ts";
import type { Answers } from "./read-after.ts";

const kernel = defineKernel("kernel");

/** What was begun, in order; each compilation ends when the test says so. */
let started: number[];
let end: Map<number, (pipeline: GPUComputePipeline | Error) => void>;
/** How each may be blamed for a lost device. */
let blamed: string[];
let later: LaterPipelines;

const pipeline = {} as GPUComputePipeline;
const turn = () => new Promise((resolve) => setTimeout(resolve));

function add(SIZE: number, rank: Rank, check?: () => Promise<Answers>): LaterPipeline {
  return later.add({ kernel, constants: { SIZE } }, rank, check);
}

async function finish(size: number, outcome: GPUComputePipeline | Error = pipeline): Promise<void> {
  end.get(size)?.(outcome);
  await turn();
}

beforeEach(() => {
  started = [];
  blamed = [];
  end = new Map();
  const prepare: KernelCompiler["prepare"] = ({ constants }) => {
    const size = Number(constants["SIZE"]);
    const compile = () => {
      started.push(size);
      return new Promise<GPUComputePipeline>((resolve, reject) => {
        end.set(size, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
      });
    };
    return { label: `kernel ${size}`, compile };
  };
  later = new LaterPipelines({
    prepare,
    tryOut: (_, trial) => {
      blamed.push("tried out");
      return trial();
    },
    prove: (label, work) => {
      blamed.push(`proved: ${label}`);
      return work();
    },
    countPrepared: () => undefined,
    noteReady: () => undefined,
  } satisfies Partial<KernelCompiler> as unknown as KernelCompiler);
});

describe("pipelines that no step has asked for", () => {
  it("are compiled one after the other, by rank, once they may", async () => {
    add(1, Rank.logprobs);
    add(2, Rank.draws);
    add(3, Rank.prompts);
    await turn();
    expect(started).toEqual([]);
    const complete = later.start();
    await turn();
    expect(started).toEqual([2]);
    await finish(2);
    expect(started).toEqual([2, 3]);
    await finish(3);
    await finish(1);
    expect(started).toEqual([2, 3, 1]);
    expect(await complete).toEqual([]);
  });

  it("are tried out where others can take their place, and proved where none can", async () => {
    for (const [size, rank] of [Rank.draws, Rank.prompts, Rank.logprobs].entries()) add(size, rank).hurry();
    await turn();
    expect(blamed.toSorted()).toEqual(["proved: kernel 0", "proved: kernel 2", "tried out"]);
  });

  it("wait for their time, unless a step waits for them", async () => {
    let begin = (): void => {};
    const [first] = [add(1, Rank.draws), add(2, Rank.prompts)];
    const complete = later.start(new Promise<void>((resolve) => (begin = resolve)));
    await turn();
    expect(started).toEqual([]);
    first.hurry();
    await turn();
    expect(started).toEqual([1]);
    await finish(1);
    begin();
    await turn();
    expect(started).toEqual([1, 2]);
    await finish(2);
    expect(await complete).toEqual([]);
  });

  it("are compiled at once when a step waits for them, and only once", async () => {
    const [first, last] = [add(1, Rank.draws), add(2, Rank.logprobs)];
    last.hurry();
    await turn();
    expect(started).toEqual([2]);
    const complete = later.start();
    last.hurry();
    await finish(2);
    expect(await last.ready).toBe(pipeline);
    await finish(1);
    expect(await first.ready).toBe(pipeline);
    expect(started).toEqual([2, 1]);
    expect(await complete).toEqual([]);
  });

  it("are one where their kernel and constants are", () => {
    expect(add(1, Rank.prompts)).toBe(add(1, Rank.prompts));
  });

  it("are named, and not given, if they are refused or fail their check", async () => {
    const refused = add(1, Rank.draws);
    const wrong = add(2, Rank.prompts, () => Promise.resolve({ known: 1, given: 2 }));
    const complete = later.start();
    await turn();
    await finish(1, new Error("refused"));
    await finish(2);
    await expect(refused.ready).rejects.toThrow("refused");
    expect(await wrong.ready).toBeNull();
    expect(await complete).toEqual(["kernel 1: refused", "kernel 2: its answers differ from the known ones"]);
  });

  it("are named, and whoever uses them is told, if they give other answers later", async () => {
    const now: Answers[] = [1, 2, 3].map(() => ({ known: 7, given: 7 }));
    const told: unknown[] = [];
    for (const i of [0, 1, 2]) {
      const added = add(i + 1, Rank.prompts, async () => now[i] ?? { known: 0, given: 0 });
      added.onChange((changed) => told.push([i + 1, changed]));
    }
    const complete = later.start();
    await turn();
    for (const size of [1, 2, 3]) await finish(size);
    expect(await complete).toEqual([]);
    expect(await later.recheck()).toEqual([]);
    now[1] = { known: 7, given: 8 };
    now[2] = { known: 8, given: 7 };
    const [own, first, ...others] = await later.recheck();
    expect(own).toContain("kernel 2: its answers");
    expect(first).toContain("kernel 3: the kernel that it was compared with");
    expect(others).toEqual([]);
    expect(told).toEqual([
      [2, { known: false, given: true }],
      [3, { known: true, given: false }],
    ]);
  });

  it("are neither begun nor checked after the end", async () => {
    let isChecked = false;
    add(1, Rank.draws, async () => {
      isChecked = true;
      return { known: 1, given: 1 };
    });
    const second = add(2, Rank.prompts);
    const complete = later.start();
    await turn();
    later.stop();
    second.hurry();
    await finish(1);
    expect(started).toEqual([1]);
    expect(isChecked).toBe(false);
    expect(await complete).toEqual([]);
  });
});
