import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

import { EngineHarness, samplingParams } from "../../tests/fakes/engine-harness.ts";
import { sampleEntry, sampleRequest, sampleStep } from "../../tests/requests/sample-reports.ts";
import { seededRandom } from "../../lab/seeded-random.ts";
import { chromeTrace, type TraceEvent } from "./chrome-trace.ts";
import { readRecording } from "./read-recording.ts";
import type { RecordedEvent, Recording } from "./recording-format.ts";

const MODEL = { name: "m", dtype: "f16", kvCacheDtype: "f16", adapter: "a GPU", blockSize: 4, numGpuBlocks: 12 };

interface TraceFile {
  readonly traceEvents: readonly TraceEvent[];
  readonly displayTimeUnit: string;
  readonly otherData: Readonly<Record<string, unknown>>;
}

function traceOf(events: readonly RecordedEvent[]): TraceFile {
  const recording = { version: 3, model: MODEL, config: null, events } as unknown as Recording;
  return JSON.parse(chromeTrace(recording)) as TraceFile;
}

const isWhole = (value: unknown) => typeof value === "number" && Number.isInteger(value) && value >= 0;

/** What Perfetto's importer does not take as it is meant: what is wrong with a file by the Trace Event Format. */
function faultsOf({ traceEvents, displayTimeUnit }: TraceFile): string[] {
  const faults: string[] = [];
  if (displayTimeUnit !== "ms" && displayTimeUnit !== "ns") faults.push(`displayTimeUnit ${displayTimeUnit}`);
  const named = { process_name: new Set<string>(), thread_name: new Set<string>() };
  const open = new Map<string, { readonly name: string; readonly endUs: number }[]>();
  let lastUs = 0;
  for (const event of traceEvents) {
    const { ph, name, pid, tid, ts, dur, args } = event;
    const fault = (what: string) => faults.push(`${what}: ${JSON.stringify(event)}`);
    if (typeof name !== "string" || name === "") fault("no name");
    // Numbers of 32 bits; a tid that equals its pid would be the process's main thread.
    if (!isWhole(pid) || pid === 0 || pid >= 2 ** 32 || !isWhole(tid) || tid >= 2 ** 32) fault("no pid or tid");
    if (!isWhole(ts)) fault("no time in whole microseconds");
    if (typeof args !== "object" || args === null || Array.isArray(args)) fault("no args");
    if (ph === "M") {
      if (name === "process_name" || name === "thread_name") {
        if (typeof args["name"] !== "string" || args["name"] === "") fault("names nothing");
        const key = name === "process_name" ? `${pid}` : `${pid} ${tid}`;
        if (named[name].has(key)) fault("named twice");
        named[name].add(key);
      } else if (name !== "process_sort_index" && name !== "thread_sort_index") fault("metadata of another name");
      else if (!isWhole(args["sort_index"])) fault("no sort_index");
      continue;
    }
    if (ts < lastUs) fault("not in order of time");
    lastUs = ts;
    if (!named.process_name.has(`${pid}`)) fault("a process without a name");
    if (ph === "C") {
      // Each value is a counter by itself, named for both.
      const values = Object.values(args);
      if (values.length === 0 || values.some((value) => typeof value !== "number")) fault("a counter without numbers");
    } else if (ph === "X") {
      if (!isWhole(dur)) fault("no length in whole microseconds");
      if (!named.thread_name.has(`${pid} ${tid}`)) fault("a track without a name");
      const stack = open.get(`${pid} ${tid}`) ?? [];
      open.set(`${pid} ${tid}`, stack);
      while ((stack.at(-1)?.endUs ?? Infinity) <= ts) stack.pop();
      const endUs = ts + (dur ?? 0);
      const around = stack.at(-1);
      if (around !== undefined && endUs > around.endUs) fault(`overlaps "${around.name}" in part`);
      if (endUs > ts) stack.push({ name, endUs });
    } else fault("another phase");
  }
  return faults;
}

/** The events of an engine that preempts, runs ahead, and whose requests are aborted. */
async function stormyRun(): Promise<RecordedEvent[]> {
  const config = { blockSize: 4, numGpuBlocks: 8, maxNumSeqs: 3, runAhead: 2, enablePrefixCaching: true };
  const harness = new EngineHarness({ config });
  const random = seededRandom(5);
  const events: RecordedEvent[] = [];
  let [steps, requests] = [0, 0];
  const take = () => {
    for (const report of harness.steps.slice(steps)) events.push({ type: "step", ...report });
    for (const report of harness.requests.slice(requests)) events.push({ type: "request", ...report });
    [steps, requests] = [harness.steps.length, harness.requests.length];
  };
  for (let turn = 0; turn < 200; turn++) {
    if (turn % 3 === 0 && turn < 150) {
      const params = samplingParams({ maxTokens: 2 + Math.floor(random() * 14), ignoreEos: true, seed: turn });
      harness.add(`r${turn}`, [1, 2, 3, 4, 5, turn], { params });
    }
    if (turn % 7 === 6) harness.engine.abort(`r${turn - 6}`);
    take();
    // oxlint-disable-next-line no-await-in-loop -- steps follow one another
    await harness.step();
    take();
  }
  return events;
}

describe("a trace keeps to the Trace Event Format", () => {
  it("of a run with preemptions, aborts and steps in flight", async () => {
    const events = await stormyRun();
    expect(events.some((event) => event.type === "step" && event.preempted.length > 0)).toBe(true);
    const trace = traceOf(events);
    expect(faultsOf(trace)).toEqual([]);
    const slices = (pid: number) => trace.traceEvents.filter((event) => event.ph === "X" && event.pid === pid);
    for (const pid of [1, 2, 3, 4]) expect(slices(pid).length).toBeGreaterThan(20);
  });

  it.each(["mixed", "similar"])("of the recorded load %s", (name) => {
    const recording = readRecording(readFileSync(`tests/fixtures/runs/${name}.jsonl`, "utf8"));
    const trace = JSON.parse(chromeTrace(recording)) as TraceFile;
    expect(faultsOf(trace)).toEqual([]);
    expect(trace.traceEvents.filter(({ name: one }) => /^step \d+$/.test(one)).length).toBeGreaterThan(100);
  });

  it("of nothing", () => {
    expect(faultsOf(traceOf([]))).toEqual([]);
  });

  it("and the check finds what does not", () => {
    const good = traceOf([{ type: "step", ...sampleStep({ atMs: 10, entries: [sampleEntry("a", { blocks: [3] })] }) }]);
    expect(faultsOf(good)).toEqual([]);
    const slice = good.traceEvents.find(({ ph }) => ph === "X");
    if (!slice) throw new Error("there is a slice");
    const withMore = (changes: object) => ({
      ...good,
      traceEvents: [...good.traceEvents, { ...slice, ts: 1e6, ...changes } as TraceEvent],
    });
    for (const changes of [
      { ts: 0.5 },
      { tid: 77 },
      { pid: -1 },
      { dur: undefined },
      { args: [] },
      { ph: "B" },
      { name: "" },
      { ph: "C", args: { used: "three" } },
      { ts: 0 },
    ]) {
      expect(faultsOf(withMore(changes))).not.toEqual([]);
    }
    const overlapping = withMore({ ts: 1e6, dur: 10 });
    const twice = { ...overlapping, traceEvents: [...overlapping.traceEvents, { ...slice, ts: 1e6 + 5, dur: 10 }] };
    expect(faultsOf(twice)).toHaveLength(1);
  });
});

/** Each slice as "track: name begin+length" in microseconds, in order. */
function slicesOf({ traceEvents }: TraceFile): string[] {
  const threads = new Map(
    traceEvents
      .filter(({ name }) => name === "thread_name")
      .map(({ pid, tid, args }) => [`${pid} ${tid}`, args["name"]]),
  );
  return traceEvents
    .filter(({ ph }) => ph === "X")
    .map(({ pid, tid, name, ts, dur }) => `${String(threads.get(`${pid} ${tid}`))}: ${name} ${ts}+${dur}`)
    .toSorted();
}

it("has a track for each kernel, of the steps whose kernels were timed, and says which were not", () => {
  const step = (number: number, gpuMs: number | null) =>
    ({ type: "step", ...sampleStep({ step: number, atMs: 10 * number, stepMs: 10, gpuMs, entries: [] }) }) as const;
  const times = [
    { kernel: "embed", operation: "embed", startMs: 0, ms: 0.5 },
    { kernel: "matmul-lane", operation: "layer 0 qkv", startMs: 0.5, ms: 2 },
    // It began before the one before had ended: a GPU may do so.
    { kernel: "matmul-lane", operation: "layer 0 fc", startMs: 2, ms: 1.5 },
    // Clocks are rounded.
    { kernel: "sample", operation: "sample", startMs: 3.5, ms: 0.6 },
  ];
  const trace = traceOf([step(1, 4), { type: "kernels", step: 1, kernels: times }, step(2, 3), step(3, null)]);
  expect(faultsOf(trace)).toEqual([]);
  expect(slicesOf(trace).filter((slice) => !slice.startsWith("Steps"))).toEqual([
    "GPU: whole step: step 1 6000+4000",
    "GPU: whole step: step 2 17000+3000",
    "embed: embed 6000+500",
    "matmul-lane: layer 0 fc 8500+1000",
    "matmul-lane: layer 0 qkv 6500+2000",
    "sample: sample 9500+500",
  ]);
  const argsOf = (name: string) => trace.traceEvents.filter((one) => one.name === name).map(({ args }) => args);
  expect(argsOf("layer 0 fc")).toEqual([{ step: 1, ms: 1.5 }]);
  expect(argsOf("step 1")).toContainEqual({ gpuMs: 4, kernels: "4, each in a pass of its own" });
  expect(argsOf("step 2")).toContainEqual({ gpuMs: 3, kernels: "not timed" });
  expect(trace.otherData["kernels"]).toBe("timed in 1 of 3 steps");
});

it("shows slots, the queue, blocks, and the GPU's passes", () => {
  const entry = sampleEntry("a", { slot: 2, blocks: [5], rows: 8, promptRows: 8 });
  const next = sampleEntry("a", { slot: 2, finishReason: "length" });
  const trace = traceOf([
    { type: "request", ...sampleRequest("a", { arrivalMs: 100 }) },
    { type: "step", ...sampleStep({ step: 1, atMs: 120, stepMs: 10, gpuMs: 4, entries: [entry] }) },
    { type: "step", ...sampleStep({ step: 2, atMs: 130, stepMs: 10, gpuMs: 4, entries: [next] }) },
    { type: "answered", step: 2, answers: [{ requestId: "a", index: 0, tokenIds: [7], text: " sea" }] },
  ]);
  expect(slicesOf(trace)).toEqual(
    [
      "place 1: a/0 0+10000",
      "Steps: step 1 10000+10000",
      "Steps: step 2 20000+10000",
      "slot 2: a/0 10000+20000",
      "slot 2: prompt, 8 tokens 10000+10000",
      "slot 2:  sea 20000+10000",
      "block 5: a/0 10000+20000",
      "GPU: whole step: step 1 16000+4000",
      "GPU: whole step: step 2 26000+4000",
    ].toSorted(),
  );
});
