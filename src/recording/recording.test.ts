import { describe, expect, it } from "vitest";

import { resolveEngineConfig } from "../api/engine-config.ts";
import { Engine } from "../engine/engine.ts";
import { Metrics } from "../engine/metrics/metrics.ts";
import type { ChorusEngine, EngineEvents } from "../protocol/engine.ts";
import type { Alert, KernelsReport, ModelCard, WordsReport } from "../protocol/reports.ts";
import { FakeRunner } from "../../tests/fakes/fake-runner.ts";
import { ROOMY, samplingParams } from "../../tests/fakes/engine-harness.ts";
import { sampleEntry, sampleRequest, sampleStep } from "../../tests/requests/sample-reports.ts";
import { readRecording } from "./read-recording.ts";
import { recordRun } from "./recording.ts";
import type { RecordedEvent } from "./recording-format.ts";

const MODEL: ModelCard = {
  name: "a model",
  numParameters: 10,
  weightBytes: 40,
  kvCacheBytes: 1,
  contextLength: 128,
  vocabSize: 8,
  numLayers: 1,
  dtype: "f16",
  mixture: null,
  activationDtype: "f32",
  kvCacheDtype: "f32",
  numGpuBlocks: 64,
  blockSize: 4,
  backend: "webgpu",
  adapter: "none",
  notice: null,
  chat: false,
  readsSystemPrompt: false,
  canTimeKernels: true,
  defaults: { temperature: 1, top_p: 1, top_k: 0, min_p: 0, repetition_penalty: 1 },
};
const CONFIG = resolveEngineConfig({}, { numLayers: 1, numKvHeads: 1, headDim: 8, maxPositions: 128 });
const ASKED: WordsReport = {
  status: "asked",
  requestId: "a",
  question: "Hi",
  text: "User: Hi",
  body: { prompt: [1, 2], max_tokens: 3, seed: 4 },
};
const ANSWERED: WordsReport = {
  status: "answered",
  step: 1,
  answers: [{ requestId: "a", index: 0, tokenIds: [5, 6], text: "So" }],
};
const KERNELS: KernelsReport = {
  step: 1,
  kernels: [{ kernel: "embed", operation: "embed", startMs: 0, ms: 0.5 }],
};
const ALERT: Alert = { status: "raised", name: "queue_length", value: 3, threshold: 2, atMs: 9, message: "3 wait" };

/** What recordRun() needs of an engine. */
class Source {
  readonly model = MODEL;
  readonly config = CONFIG;
  readonly #listeners = new Set<{ event: keyof EngineEvents; listener: (payload: never) => void }>();

  readonly on = ((event: keyof EngineEvents, listener: (payload: never) => void) => {
    const entry = { event, listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }) as ChorusEngine["on"];

  hears(event: keyof EngineEvents): boolean {
    return [...this.#listeners].some((one) => one.event === event);
  }

  notify<Name extends keyof EngineEvents>(event: Name, payload: EngineEvents[Name]): void {
    for (const one of this.#listeners) if (one.event === event) one.listener(payload as never);
  }
}

const linesOf = (text: string) => text.trimEnd().split("\n");

/** A recording with one event of each kind. One line is replaced. */
function recordingWith(line: number, change: (text: string) => string): string {
  const source = new Source();
  const recorder = recordRun(source);
  recorder.timeKernels(true);
  source.notify("request", sampleRequest("a"));
  source.notify("step", sampleStep({ entries: [sampleEntry("a")] }));
  source.notify("alert", ALERT);
  source.notify("words", ASKED);
  source.notify("words", ANSWERED);
  source.notify("kernels", KERNELS);
  const lines = linesOf(recorder.stop());
  return lines.map((text, i) => (i === line - 1 ? change(text) : text)).join("\n");
}

describe("a recorded run", () => {
  it("is read back unchanged, and gives the same histograms as live", async () => {
    const source = new Source();
    const events: RecordedEvent[] = [];
    source.on("step", (report) => events.push({ type: "step", ...report }));
    source.on("request", (report) => events.push({ type: "request", ...report }));
    source.on("alert", (alert) => events.push({ type: "alert", ...alert }));
    source.on("kernels", (report) => events.push({ type: "kernels", ...report }));
    source.on("words", ({ status, ...words }) => events.push({ type: status, ...words } as RecordedEvent));
    const recorder = recordRun(source);
    recorder.timeKernels(true);

    const live = new Metrics({ maxModelLen: MODEL.contextLength });
    let nowMs = 1000.25;
    const engine = new Engine({
      config: { ...ROOMY, numGpuBlocks: 12, maxNumBatchedTokens: 8 },
      runner: new FakeRunner({ ...ROOMY, vocabSize: 8 }),
      eosTokenIds: [],
      tokenBytes: () => new Uint8Array(),
      now: () => (nowMs += 3.125),
      delay: () => Promise.resolve(),
      onOutputs: (_, report, requests) => {
        if (report) live.observeStep(report);
        for (const request of requests) live.observeRequest(request);
        if (report) source.notify("step", report);
        for (const request of requests) source.notify("request", request);
      },
      onFatal: (error) => {
        throw error;
      },
    });
    for (const requestId of ["a", "b", "c", "d"]) {
      const request = { requestId, prompt: [1, 2, 3, 4, 5, 6], params: samplingParams({ maxTokens: 12 }), n: 2 };
      engine.add({ ...request, param: "prompt", priority: 0, cacheSalt: null, deadlineMs: null, beamSearch: null });
    }
    source.notify("alert", ALERT);
    source.notify("words", ASKED);
    source.notify("words", ANSWERED);
    source.notify("kernels", KERNELS);
    while (await engine.step());

    const recording = readRecording(recorder.stop());
    expect(recording.version).toBe(3);
    expect(recording.model).toEqual(MODEL);
    expect(recording.config).toMatchObject({ maxNumSeqs: 64, batchingMode: "continuous", enablePrefixCaching: true });
    expect(recording.events).toEqual(events);
    const types = ["step", "request", "alert", "asked", "answered", "kernels"];
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(types));

    const folded = new Metrics({ maxModelLen: MODEL.contextLength });
    for (const event of recording.events) {
      if (event.type === "step") folded.observeStep(event);
      if (event.type === "request") folded.observeRequest(event);
    }
    const counts = ({ histograms }: Metrics) =>
      Object.entries(histograms).map(([name, h]) => [name, h.sum, ...h.cumulativeCounts()]);
    expect(counts(folded)).toEqual(counts(live));
    expect(live.histograms.inter_token_latency_seconds.count).toBe(8 * 11);
  });

  it("that doesn't say how activations were multiplied, was made before they were integers", () => {
    const before = recordingWith(1, (text) => text.replace('"activationDtype":"f32",', ""));
    expect(before).not.toContain("activationDtype");
    expect(readRecording(before).model.activationDtype).toBe("f32");
  });

  it("keeps the newest events up to a limit, and can be read while it continues", () => {
    const source = new Source();
    const recorder = recordRun(source, { mostEvents: 3 });
    const steps = () =>
      readRecording(recorder.text()).events.map((event) => (event.type === "step" ? event.step : event.type));
    const seen = [1, 2, 3, 4, 5, 6, 7].map((step) => {
      source.notify("step", sampleStep({ step }));
      return steps().join(",");
    });
    expect(seen).toEqual(["1", "1,2", "1,2,3", "2,3,4", "3,4,5", "4,5,6", "5,6,7"]);
  });

  it("has the times of kernels only while they are wanted, and asks for none otherwise", () => {
    const source = new Source();
    const recorder = recordRun(source);
    const listened = [false, true, true, false].map((isRequested) => {
      recorder.timeKernels(isRequested);
      source.notify("kernels", KERNELS);
      return source.hears("kernels");
    });
    expect(listened).toEqual([false, true, true, false]);
    recorder.timeKernels(true);
    expect(readRecording(recorder.stop()).events).toHaveLength(2);
    expect(source.hears("kernels")).toBe(false);
  });

  it("ends with stop(), and begins with what ran", () => {
    const source = new Source();
    const recorder = recordRun(source);
    source.notify("step", sampleStep());
    const text = recorder.stop();
    source.notify("step", sampleStep());
    expect(recorder.stop()).toBe(text);
    expect(linesOf(text)).toHaveLength(2);
    expect(JSON.parse(linesOf(text)[0] ?? "")).toMatchObject({ type: "header", version: 3, model: MODEL });
  });
});

describe("what is no recording is refused by its line:", () => {
  it.each<[what: string, line: number, change: (text: string) => string, message: RegExp]>([
    ["no JSON", 2, () => "{", /^Line 2 of the recording is not a JSON object/],
    ["no object", 3, () => "[1]", /^Line 3 .* not a JSON object/],
    ["an empty line", 3, () => "", /^Line 3 .* not a JSON object/],
    ["no header", 1, () => `{"type":"step"}`, /^Line 1 .* not the header/],
    [
      "a newer version",
      1,
      (text) => text.replace(`"version":3`, `"version":4`),
      /^Line 1 .* of version 4; .* reads .* 3\./,
    ],
    [
      "an older version",
      1,
      (text) => text.replace(`"version":3`, `"version":2`),
      /^Line 1 .* of version 2; .* reads version 3\./,
    ],
    ["no version", 1, (text) => text.replace(`"version":3,`, ""), /^Line 1 .* version undefined/],
    ["no model", 1, () => `{"type":"header","version":3}`, /^Line 1 .* has no model/],
    ["no config", 1, (text) => text.replace(/"config":\{[^}]*\}/, `"config":null`), /^Line 1 .* has no config/],
    [
      "a mode that there is not",
      1,
      (text) => text.replace(`"continuous"`, `"chaotic"`),
      /config\.batchingMode = "chaotic"/,
    ],
    ["no prompt", 5, (text) => text.replace("[1,2]", `"Hi"`), /^Line 5 .* a request with a prompt of token ids/],
    [
      "an answer without tokens",
      6,
      (text) => text.replace(`"tokenIds":[5,6],`, ""),
      /answers\[0\] has no|no answers\[0\]\.tokenIds/,
    ],
    ["no slot", 3, (text) => text.replace(`"slot":0,`, ""), /^Line 3 .* has no entries\[0\]\.slot/],
    [
      "a wrong model",
      1,
      (text) => text.replace(`"vocabSize":8`, `"vocabSize":"8"`),
      /model\.vocabSize = "8"; .* number/,
    ],
    ["a kernel without time", 7, (text) => text.replace(`,"ms":0.5`, ""), /^Line 7 .* has no kernels\[0\]\.ms/],
    ["another type", 2, (text) => text.replace(`"request"`, `"party"`), /^Line 2 .* type "party"/],
    ["a missing field", 3, (text) => text.replace(`"sampled":true,`, ""), /^Line 3 .* has no entries\[0\]\.sampled/],
    ["a wrong number", 3, (text) => text.replace(`"cpuMs":1`, `"cpuMs":null`), /^Line 3 .* cpuMs = null/],
    [
      "a wrong name",
      4,
      (text) => text.replace(`"queue_length"`, `"boredom"`),
      /^Line 4 .* low_occupancy, queue_length/,
    ],
    ["an entry of text", 3, (text) => text.replace(/"entries":\[\{.*\}\]/, `"entries":["a"]`), /has no entries\[0\]/],
  ])("%s", (_what, line, change, message) => {
    const whole = recordingWith(0, (text) => text);
    expect(readRecording(whole).events).toHaveLength(6);
    const broken = recordingWith(line, change);
    expect(broken).not.toBe(whole);
    expect(() => readRecording(broken)).toThrow(message);
    expect(() => readRecording(broken)).toThrow(
      expect.objectContaining({ code: "invalid_value", param: `line ${line}` }),
    );
  });

  it("what is no text", () => {
    expect(() => readRecording(5 as unknown as string)).toThrow(expect.objectContaining({ code: "invalid_type" }));
  });

  it("nothing at all", () => {
    expect(() => readRecording("")).toThrow(/^Line 1 .* not the header/);
  });
});

it.each([5, null, undefined, {}, "engine"])("recordRun(%j) is refused by name", (engine) => {
  expect(() => recordRun(engine as never)).toThrow(
    expect.objectContaining({ name: "ChorusError", code: "invalid_type", param: "engine" }),
  );
});
