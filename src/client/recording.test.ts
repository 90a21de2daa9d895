import { describe, expect, it } from "vitest";

import { Engine } from "../engine/engine.ts";
import { Metrics } from "../engine/metrics/metrics.ts";
import type { ChorusEngine, EngineEvents } from "../protocol/engine.ts";
import type { Alert, ModelCard } from "../protocol/reports.ts";
import { FakeRunner } from "../testing/fakes/fake-runner.ts";
import { ROOMY, samplingParams } from "../testing/fakes/engine-harness.ts";
import { sampleEntry, sampleRequest, sampleStep } from "../testing/requests/sample-reports.ts";
import { readRecording, recordRun, type RecordedEvent } from "./recording.ts";

const MODEL: ModelCard = {
  name: "a model",
  numParameters: 10,
  weightBytes: 40,
  kvCacheBytes: 1,
  contextLength: 128,
  vocabSize: 8,
  numLayers: 1,
  dtype: "f16",
  kvCacheDtype: "f32",
  numGpuBlocks: 64,
  blockSize: 4,
  backend: "webgpu",
  adapter: "none",
  notice: null,
  chat: false,
  readsSystemPrompt: false,
  defaults: { temperature: 1, top_p: 1, top_k: 0, min_p: 0, repetition_penalty: 1 },
};
const ALERT: Alert = { status: "raised", name: "queue_length", value: 3, threshold: 2, atMs: 9, message: "3 wait" };

/** What recordRun() needs of an engine. */
class Source {
  readonly model = MODEL;
  readonly #listeners = new Set<(event: keyof EngineEvents, payload: never) => void>();

  readonly on = ((event: keyof EngineEvents, listener: (payload: never) => void) => {
    const entry = (told: keyof EngineEvents, payload: never) => told === event && listener(payload);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }) as ChorusEngine["on"];

  tell<Name extends keyof EngineEvents>(event: Name, payload: EngineEvents[Name]): void {
    for (const listener of this.#listeners) listener(event, payload as never);
  }
}

const linesOf = (text: string) => text.trimEnd().split("\n");

/** A recording with one event of each kind. One line is replaced. */
function recordingWith(line: number, change: (text: string) => string): string {
  const source = new Source();
  const recorder = recordRun(source);
  source.tell("request", sampleRequest("a"));
  source.tell("step", sampleStep({ entries: [sampleEntry("a")] }));
  source.tell("alert", ALERT);
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
    const recorder = recordRun(source);

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
        if (report) source.tell("step", report);
        for (const request of requests) source.tell("request", request);
      },
      onFatal: (error) => {
        throw error;
      },
    });
    for (const requestId of ["a", "b", "c", "d"]) {
      const request = { requestId, prompt: [1, 2, 3, 4, 5, 6], params: samplingParams({ maxTokens: 12 }), n: 2 };
      engine.add({ ...request, param: "prompt", priority: 0, cacheSalt: null, deadlineMs: null, beamSearch: null });
    }
    source.tell("alert", ALERT);
    while (await engine.step());

    const recording = readRecording(recorder.stop());
    expect(recording.model).toEqual(MODEL);
    expect(recording.events).toEqual(events);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["step", "request", "alert"]));

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

  it("keeps the newest events up to a limit, and can be read while it continues", () => {
    const source = new Source();
    const recorder = recordRun(source, { mostEvents: 3 });
    const steps = () =>
      readRecording(recorder.text()).events.map((event) => (event.type === "step" ? event.step : event.type));
    const seen = [1, 2, 3, 4, 5, 6, 7].map((step) => {
      source.tell("step", sampleStep({ step }));
      return steps().join(",");
    });
    expect(seen).toEqual(["1", "1,2", "1,2,3", "2,3,4", "3,4,5", "4,5,6", "5,6,7"]);
  });

  it("ends with stop(), and begins with what ran", () => {
    const source = new Source();
    const recorder = recordRun(source);
    source.tell("step", sampleStep());
    const text = recorder.stop();
    source.tell("step", sampleStep());
    expect(recorder.stop()).toBe(text);
    expect(linesOf(text)).toHaveLength(2);
    expect(JSON.parse(linesOf(text)[0] ?? "")).toEqual({ type: "header", version: 1, model: MODEL });
  });
});

describe("what is no recording is refused by its line:", () => {
  it.each<[what: string, line: number, change: (text: string) => string, message: RegExp]>([
    ["no JSON", 2, () => "{", /^Line 2 of the recording is not a JSON object/],
    ["no object", 3, () => "[1]", /^Line 3 .* not a JSON object/],
    ["an empty line", 3, () => "", /^Line 3 .* not a JSON object/],
    ["no header", 1, () => `{"type":"step"}`, /^Line 1 .* not the header/],
    ["another version", 1, (text) => text.replace(`"version":1`, `"version":2`), /^Line 1 .* version 1/],
    ["no model", 1, () => `{"type":"header","version":1}`, /^Line 1 .* has no model/],
    [
      "a wrong model",
      1,
      (text) => text.replace(`"vocabSize":8`, `"vocabSize":"8"`),
      /model\.vocabSize = "8"; .* number/,
    ],
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
    expect(readRecording(whole).events).toHaveLength(3);
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
