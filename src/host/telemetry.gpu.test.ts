// Telemetry of an engine in a worker and on the page, on a GPU and on the CPU.

import { describe, expect, it, vi } from "vitest";

import { createEngine, readRecording, recordRun, type Alert, type ChorusEngine, type StepReport } from "../index.ts";
import { spanMs } from "../backends/gpu/kernel-times.ts";
import { withCommonDevice } from "../../tests/gpu/one-device.ts";

const DTYPES = { dtype: "f32", kvCacheDtype: "f32" } as const;
const TINY = { backend: "cpu", cpuThreads: 1, model: "/tests/fixtures/gpt2-tiny/", ...DTYPES } as const;
const REQUESTS = Array.from({ length: 6 }, (_, i) => ({
  prompt: Array.from({ length: 20 }, (_unused, j) => (31 * i + 7 * j) % 500),
  max_tokens: 12,
  ignore_eos: true,
}));

async function serve(engine: ChorusEngine): Promise<void> {
  await Promise.all(REQUESTS.map((request) => engine.completions.create(request)));
}

/** Returns the value of a sample whose only label is the model. */
function sampleOf(text: string, name: string): number {
  const line = text.split("\n").find((sample) => sample.startsWith(`${name}{model_name="gpt2-tiny"} `));
  return Number(line?.split(" ").at(-1));
}

describe.each([
  { backend: "webgpu", worker: false, gpu: await withCommonDevice() },
  { backend: "cpu", worker: true },
] as const)("an engine (on $backend, in a worker: $worker)", (where) => {
  it("counts every token in its histograms, raises its alerts, and can be recorded", async () => {
    const config = { maxNumSeqs: 2, alerts: { queueLength: 2 } } as const;
    await using engine = await createEngine({ ...TINY, ...config, ...where });
    const alerts: Alert[] = [];
    engine.on("alert", (alert) => alerts.push(alert));
    const recorder = recordRun(engine);
    expect(engine.model.canTimeKernels).toBe(where.backend === "webgpu");
    recorder.timeKernels(true);
    await serve(engine);

    const text = await engine.metrics();
    expect(sampleOf(text, "vllm:generation_tokens_total")).toBe(6 * 12);
    expect(sampleOf(text, "vllm:inter_token_latency_seconds_count")).toBe(6 * 11);
    expect(sampleOf(text, "vllm:time_to_first_token_seconds_count")).toBe(6);
    const stats = await engine.stats();
    expect(sampleOf(text, "chorus:engine_step_gpu_seconds_count")).toBe(
      where.backend === "webgpu" ? stats.engine_steps_total : 0,
    );
    const gpuSeconds = sampleOf(text, "chorus:engine_step_gpu_seconds_sum");
    expect(gpuSeconds > 0).toBe(where.backend === "webgpu");

    const ofQueue = alerts.filter(({ name }) => name === "queue_length");
    expect(ofQueue.map(({ status }) => status)).toEqual(["raised", "resolved"]);
    const { model, events } = readRecording(recorder.stop());
    expect(model).toEqual(engine.model);
    expect(events.filter(({ type }) => type === "step")).toHaveLength(stats.engine_steps_total);
    const timed = events.flatMap((event) => (event.type === "kernels" ? [event] : []));
    // Which steps those are depends on when the GPU has made what timing takes, and on when the times are read.
    expect(timed.length > 0).toBe(where.backend === "webgpu");
    const steps = timed.map(({ step }) => step);
    expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
    for (const { step, kernels } of timed) {
      const whole = events.find((event) => event.type === "step" && event.step === step);
      const sumMs = kernels.reduce((sum, { ms }) => sum + ms, 0);
      expect(kernels.length).toBeGreaterThan(8);
      expect(sumMs).toBeGreaterThan(0);
      expect(whole).toMatchObject({ gpuMs: expect.closeTo(spanMs(kernels), 6) });
    }
    expect(events.filter(({ type }) => type === "alert")).toHaveLength(alerts.length);
    expect(events.filter((event) => event.type === "request" && event.status === "finished")).toHaveLength(6);
  });
});

it("an engine with an unreachable target plans fewer tokens and sequences per step than one without", async () => {
  const mostOf = async (config: { targetItlMs?: number }) => {
    await using engine = await createEngine({ ...TINY, worker: false, maxNumBatchedTokens: 128, ...config });
    const steps: StepReport[] = [];
    engine.on("step", (step) => steps.push(step));
    await serve(engine);
    return {
      rows: Math.max(...steps.map(({ rows }) => rows)),
      sequences: Math.max(...steps.slice(-20).map(({ entries }) => entries.length)),
    };
  };
  const free = await mostOf({});
  expect(free.rows).toBeGreaterThan(16);
  expect(free.sequences).toBeGreaterThan(1);
  expect(await mostOf({ targetItlMs: 0.01 })).toEqual({ rows: 16, sequences: 1 });
});

it("an engine that refuses most of its requests raises an alert and logs it", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  await using engine = await createEngine({ ...TINY, worker: false, logLevel: "warn" });
  const alerts: Alert[] = [];
  engine.on("alert", (alert) => alerts.push(alert));
  for (let i = 0; i < 25; i++) {
    await expect(engine.completions.create({ prompt: "a", temperature: -1 })).rejects.toThrow("temperature");
  }
  expect(alerts).toMatchObject([{ name: "failure_rate", value: 1 }]);
  expect(warn).toHaveBeenCalledTimes(26);
  warn.mockRestore();
});
