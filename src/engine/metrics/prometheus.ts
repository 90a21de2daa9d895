// Prometheus' text exposition format, version 0.0.4.

import type { EngineStats, ModelCard } from "../../protocol/reports.ts";
import type { Histogram } from "./histogram.ts";
import { CHORUS_HISTOGRAMS, VLLM_HISTOGRAMS, type HistogramName, type Metrics } from "./metrics.ts";

type MeasuredModel = Pick<ModelCard, "name" | "dtype" | "activationDtype" | "kvCacheDtype">;
type Labels = Readonly<Record<string, string>>;

type Owner = "vllm" | "chorus";
type Figure = Exclude<keyof EngineStats, "request_success_total">;

/** Whose name each figure has, and what it says. */
const FIGURES: Readonly<Record<Figure, readonly [Owner, help: string]>> = {
  num_requests_running: ["vllm", "Sequences that run."],
  num_requests_waiting: ["vllm", "Sequences that wait."],
  kv_cache_usage_perc: ["vllm", "Cache blocks in use, 0 to 1."],
  prefix_cache_queries: ["vllm", "Tokens looked up in the prefix cache."],
  prefix_cache_hits: ["vllm", "Tokens found in the prefix cache."],
  spec_decode_num_drafts_total: ["vllm", "Drafts made by speculation."],
  spec_decode_num_draft_tokens_total: ["vllm", "Drafted tokens."],
  spec_decode_num_accepted_tokens_total: ["vllm", "Drafted tokens that were accepted."],
  num_preemptions_total: ["vllm", "Times that a sequence gave up its cache blocks."],
  prompt_tokens_total: ["vllm", "Prompt tokens of sequences that began."],
  generation_tokens_total: ["vllm", "Tokens generated."],
  engine_steps_total: ["chorus", "Steps run."],
  step_sequences_total: ["chorus", "Sequences in all steps together."],
  device_losses_total: ["chorus", "Devices lost and replaced."],
  num_gpu_blocks: ["chorus", "Cache blocks there are."],
  num_gpu_blocks_free: ["chorus", "Cache blocks nobody uses."],
  max_num_seqs: ["chorus", "Slots for sequences that run at once."],
  slot_usage_perc: ["chorus", "Slots in use, 0 to 1."],
  num_resident_tokens: ["chorus", "Tokens of running sequences in the cache."],
  max_num_batched_tokens: ["chorus", "Token budget of a step."],
  batched_tokens_usage_perc: ["chorus", "Rows of the last step over the budget, 0 to 1."],
  gpu_time_usage_perc: ["chorus", "GPU time of the last step over its whole time, 0 to 1."],
};

/** Returns all metrics as text: under vLLM's names ("vllm:") where it has them, else under ours ("chorus:"). */
export function prometheusText(stats: EngineStats, metrics: Metrics, model: MeasuredModel): string {
  const labels = { model_name: model.name };
  const lines: string[] = [];
  const family = (name: string, type: "gauge" | "counter" | "histogram", help: string) => {
    lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`);
  };
  const figures = (owner: Owner) => {
    for (const [stat, [prefix, help]] of Object.entries(FIGURES)) {
      const value = stats[stat as Figure];
      if (prefix !== owner || value === null) continue; // null: the adapter has no clock
      const name = `${owner}:${stat}${stat.startsWith("prefix_cache") ? "_total" : ""}`;
      family(name, name.endsWith("_total") ? "counter" : "gauge", help);
      lines.push(sample(name, labels, value));
    }
  };

  figures("vllm");
  family("vllm:request_success_total", "counter", "Sequences that ended, by reason.");
  for (const [finished_reason, value] of Object.entries(stats.request_success_total)) {
    lines.push(sample("vllm:request_success_total", { ...labels, finished_reason }, value));
  }
  family("chorus:model_info", "gauge", "How the model is kept and multiplied, as labels; always 1.");
  const { dtype, activationDtype: activation_dtype, kvCacheDtype: kv_cache_dtype } = model;
  lines.push(sample("chorus:model_info", { ...labels, dtype, activation_dtype, kv_cache_dtype }, 1));
  figures("chorus");
  for (const [prefix, table] of [["vllm", VLLM_HISTOGRAMS] as const, ["chorus", CHORUS_HISTOGRAMS] as const]) {
    for (const [name, { help }] of Object.entries(table)) {
      family(`${prefix}:${name}`, "histogram", help);
      lines.push(...histogramSamples(`${prefix}:${name}`, labels, metrics.histograms[name as HistogramName]));
    }
  }
  return `${lines.join("\n")}\n`;
}

function histogramSamples(name: string, labels: Labels, histogram: Histogram): string[] {
  const buckets = histogram.cumulativeCounts().map((count, i) => {
    const bound = histogram.bounds[i];
    return sample(`${name}_bucket`, { ...labels, le: bound === undefined ? "+Inf" : String(bound) }, count);
  });
  return [...buckets, sample(`${name}_sum`, labels, histogram.sum), sample(`${name}_count`, labels, histogram.count)];
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeHelp(text).replaceAll('"', '\\"')}"`);
  return `${name}{${pairs.join(",")}} ${value}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
