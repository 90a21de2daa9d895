import { expect, it } from "vitest";

import { SAMPLE_STATS, sampleEntry, sampleRequest, sampleStep } from "../../../tests/requests/sample-reports.ts";
import { Metrics } from "./metrics.ts";
import { prometheusText } from "./prometheus.ts";

const MODEL = { name: "m", dtype: "q8", activationDtype: "int8", kvCacheDtype: "f16" } as const;

interface Family {
  type: string;
  help: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

/** The format as its specification has it; anything else throws. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let help = "";
  let family: (Family & { name: string }) | null = null;
  if (!text.endsWith("\n")) throw new Error("the last line must end with a line feed");
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment?.[1] === "HELP") help = comment[3] ?? "";
    else if (comment) {
      family = { name: comment[2] ?? "", type: comment[3] ?? "", help, samples: [] };
      if (families.has(family.name)) throw new Error(`${family.name} comes twice`);
      families.set(family.name, family);
    } else {
      const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)\{(.*)\} (\S+)$/.exec(line);
      if (!match?.[1] || !family) throw new Error(`no sample of a known type: ${line}`);
      const suffix = match[1].slice(family.name.length);
      const suffixes = family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      if (!match[1].startsWith(family.name) || !suffixes.includes(suffix)) throw new Error(`out of its type: ${line}`);
      family.samples.push({ name: match[1], labels: parseLabels(match[2] ?? ""), value: Number(match[3]) });
    }
  }
  return families;
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const rest = text.replaceAll(
    /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/g,
    (_, name: string, value: string) => {
      labels[name] = value.replaceAll(/\\(.)/g, (_escape, c: string) => (c === "n" ? "\n" : c));
      return "";
    },
  );
  if (rest !== "") throw new Error(`labels that do not parse: ${rest}`);
  return labels;
}

function exampleMetrics(): Metrics {
  const metrics = new Metrics({ maxModelLen: 100 });
  const first = { status: "first-token", scheduledMs: 5, firstTokenMs: 30, outputTokens: 1 } as const;
  metrics.observeStep(sampleStep({ atMs: 30, entries: [sampleEntry("a")], gpuMs: 7 }));
  metrics.observeRequest(sampleRequest("a", first));
  for (const atMs of [50, 300, 1e6]) metrics.observeStep(sampleStep({ atMs, entries: [sampleEntry("a")] }));
  metrics.observeRequest(sampleRequest("a", { ...first, status: "finished", finishedMs: 1e6, outputTokens: 4 }));
  return metrics;
}

it("has cumulative buckets that end with all, and a sum and a count that agree with them", () => {
  const families = parse(prometheusText(SAMPLE_STATS, exampleMetrics(), MODEL));
  const histograms = [...families].filter(([, family]) => family.type === "histogram");
  expect(histograms).toHaveLength(16);
  for (const [name, { samples }] of histograms) {
    const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => (labels["le"] === "+Inf" ? Infinity : Number(labels["le"])));
    expect(bounds.at(-1)).toBe(Infinity);
    expect(bounds).toEqual([...bounds].sort((a, b) => a - b));
    const counts = buckets.map(({ value }) => value);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(samples.find((sample) => sample.name === `${name}_count`)?.value).toBe(counts.at(-1));
    expect(samples.filter((sample) => sample.name === `${name}_sum`)).toHaveLength(1);
  }
  const itl = families.get("vllm:inter_token_latency_seconds")?.samples ?? [];
  const atMost = (le: string) => itl.find(({ labels }) => labels["le"] === le)?.value;
  expect([atMost("0.01"), atMost("0.025"), atMost("0.3"), atMost("80"), atMost("+Inf")]).toEqual([0, 1, 2, 2, 3]);
});

it("has vLLM's names and types, each with the model's name", () => {
  const families = parse(prometheusText(SAMPLE_STATS, exampleMetrics(), MODEL));
  const one = (name: string) => {
    const { type, samples } = families.get(name) ?? { type: "none", samples: [] };
    return [type, samples[0]?.value, samples[0]?.labels["model_name"]];
  };
  expect(one("vllm:num_requests_running")).toEqual(["gauge", 3, "m"]);
  expect(one("vllm:num_requests_waiting")).toEqual(["gauge", 2, "m"]);
  expect(one("vllm:kv_cache_usage_perc")).toEqual(["gauge", 0.25, "m"]);
  expect(one("vllm:prefix_cache_queries_total")).toEqual(["counter", 100, "m"]);
  expect(one("vllm:prefix_cache_hits_total")).toEqual(["counter", 40, "m"]);
  expect(one("vllm:num_preemptions_total")).toEqual(["counter", 1, "m"]);
  expect(one("vllm:prompt_tokens_total")).toEqual(["counter", 120, "m"]);
  expect(one("vllm:generation_tokens_total")).toEqual(["counter", 77, "m"]);
  expect(one("chorus:engine_steps_total")).toEqual(["counter", 60, "m"]);
  const endings = families.get("vllm:request_success_total")?.samples ?? [];
  expect(endings.map(({ labels, value }) => [labels["finished_reason"], value])).toEqual([
    ["stop", 5],
    ["length", 4],
    ["abort", 3],
  ]);
  const { labels } = families.get("chorus:model_info")?.samples[0] ?? {};
  expect(labels).toEqual({ model_name: "m", dtype: "q8", activation_dtype: "int8", kv_cache_dtype: "f16" });
  for (const [name, { help }] of families) expect(help, name).not.toBe("");
});

it("escapes what a model's name could break", () => {
  const model_name = 'a "b"\\n\nc';
  const families = parse(prometheusText(SAMPLE_STATS, exampleMetrics(), { ...MODEL, name: model_name }));
  for (const { samples } of families.values()) {
    for (const { labels } of samples) expect(labels["model_name"]).toBe(model_name);
  }
});
