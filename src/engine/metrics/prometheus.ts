// Prometheus' text exposition format, version 0.0.4.

import type { EngineStats, ModelCard } from "../../protocol/reports.ts";
import type { Histogram } from "./histogram.ts";
import { CHORUS_HISTOGRAMS, VLLM_HISTOGRAMS, type HistogramName, type Metrics } from "./metrics.ts";

type MeasuredModel = Pick<ModelCard, "name" | "dtype" | "activationDtype" | "kvCacheDtype">;
type Labels = Readonly<Record<string, string>>;

/** Returns all metrics as text: under vLLM's names ("vllm:") where it has them, else under ours ("chorus:"). */
export function prometheusText(stats: EngineStats, metrics: Metrics, model: MeasuredModel): string {
  const labels = { model_name: model.name };
  const lines: string[] = [];
  const family = (name: string, type: "gauge" | "counter" | "histogram", help: string) => {
    lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`);
  };
  const single = (name: string, type: "gauge" | "counter", help: string, value: number) => {
    family(name, type, help);
    lines.push(sample(name, labels, value));
  };

  single("vllm:num_requests_running", "gauge", "Sequences that run.", stats.num_requests_running);
  single("vllm:num_requests_waiting", "gauge", "Sequences that wait.", stats.num_requests_waiting);
  single("vllm:kv_cache_usage_perc", "gauge", "Cache blocks in use, 0 to 1.", stats.kv_cache_usage_perc);
  single(
    "vllm:prefix_cache_queries_total",
    "counter",
    "Tokens looked up in the prefix cache.",
    stats.prefix_cache_queries,
  );
  single("vllm:prefix_cache_hits_total", "counter", "Tokens found in the prefix cache.", stats.prefix_cache_hits);
  const { spec_decode_num_drafts_total: numDrafts, spec_decode_num_draft_tokens_total: numDraftTokens } = stats;
  single("vllm:spec_decode_num_drafts_total", "counter", "Drafts made by speculation.", numDrafts);
  single("vllm:spec_decode_num_draft_tokens_total", "counter", "Drafted tokens.", numDraftTokens);
  single(
    "vllm:spec_decode_num_accepted_tokens_total",
    "counter",
    "Drafted tokens that were accepted.",
    stats.spec_decode_num_accepted_tokens_total,
  );
  single(
    "vllm:num_preemptions_total",
    "counter",
    "Times that a sequence gave up its cache blocks.",
    stats.num_preemptions_total,
  );
  single("vllm:prompt_tokens_total", "counter", "Prompt tokens of sequences that began.", stats.prompt_tokens_total);
  single("vllm:generation_tokens_total", "counter", "Tokens generated.", stats.generation_tokens_total);

  family("vllm:request_success_total", "counter", "Sequences that ended, by reason.");
  for (const [finished_reason, value] of Object.entries(stats.request_success_total)) {
    lines.push(sample("vllm:request_success_total", { ...labels, finished_reason }, value));
  }

  family("chorus:model_info", "gauge", "How the model is kept and multiplied, as labels; always 1.");
  const { dtype, activationDtype: activation_dtype, kvCacheDtype: kv_cache_dtype } = model;
  lines.push(sample("chorus:model_info", { ...labels, dtype, activation_dtype, kv_cache_dtype }, 1));
  single("chorus:engine_steps_total", "counter", "Steps run.", stats.engine_steps_total);
  single("chorus:step_sequences_total", "counter", "Sequences in all steps together.", stats.step_sequences_total);
  single("chorus:device_losses_total", "counter", "Devices lost and replaced.", stats.device_losses_total);
  single("chorus:num_gpu_blocks", "gauge", "Cache blocks there are.", stats.num_gpu_blocks);
  single("chorus:num_gpu_blocks_free", "gauge", "Cache blocks nobody uses.", stats.num_gpu_blocks_free);
  single("chorus:max_num_seqs", "gauge", "Slots for sequences that run at once.", stats.max_num_seqs);
  single("chorus:slot_usage_perc", "gauge", "Slots in use, 0 to 1.", stats.slot_usage_perc);
  single("chorus:num_resident_tokens", "gauge", "Tokens of running sequences in the cache.", stats.num_resident_tokens);
  single("chorus:max_num_batched_tokens", "gauge", "Token budget of a step.", stats.max_num_batched_tokens);
  single(
    "chorus:batched_tokens_usage_perc",
    "gauge",
    "Rows of the last step over the budget, 0 to 1.",
    stats.batched_tokens_usage_perc,
  );
  if (stats.gpu_time_usage_perc !== null) {
    const help = "GPU time of the last step over its whole time, 0 to 1.";
    single("chorus:gpu_time_usage_perc", "gauge", help, stats.gpu_time_usage_perc);
  }

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
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}{${pairs.join(",")}} ${value}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
