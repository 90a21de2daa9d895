import { useEffect, useRef } from "react";
import type { RequestMetrics } from "../../../index.ts";
import { formatCount, formatCounted, formatDuration, formatMs, formatPercent, formatRate, orDash } from "../format.ts";

/** In display order: each with what it is about, and its value. */
const FIGURES: readonly (readonly [name: string, help: string, value: (metrics: RequestMetrics) => string])[] = [
  ["Queue", "From asking to the first step", (m) => duration(m.queue_time_ms)],
  ["Prefill", "From the first step to the first token", (m) => duration(m.prefill_time_ms)],
  ["First token", "From asking to the first token", (m) => duration(m.time_to_first_token_ms)],
  ["Decode", "From the first token to the last", (m) => duration(m.generation_time_ms)],
  ["Total", "From asking to the end", (m) => duration(m.total_time_ms)],
  ["Overall speed", "Tokens over prefill and decode. Above the chat is the speed after the first token", overallSpeed],
  ["Between tokens", "Mean, and 95th percentile", betweenTokens],
  ["Steps", "Steps that computed this answer", (m) => formatCount(m.num_steps)],
  ["Batch", "Sequences that shared its steps: mean, and most", batch],
  ["Preemptions", "Times it gave up its cache blocks", (m) => formatCount(m.num_preemptions)],
  ["Cached prompt", "Prompt tokens from the prefix cache", (m) => formatCounted(m.cached_tokens, "token")],
  ["Drafts accepted", "Drafted tokens that were accepted", drafts],
];

/** An answer's times, and the sequences that shared its steps. */
export function AnswerFigures({ metrics }: { metrics: RequestMetrics }) {
  const list = useRef<HTMLDListElement>(null);
  // It opens at the person's request, below what is in view.
  useEffect(() => {
    list.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <dl
      ref={list}
      className="mt-1 grid grid-cols-[repeat(auto-fill,minmax(132px,1fr))] gap-x-3 gap-y-2 border-t border-line pt-2 pb-3 t-12 text-ink [font-variant-numeric:tabular-nums]"
    >
      {FIGURES.map(([name, help, value]) => (
        <div key={name} title={help}>
          <dt className="text-ink-3">{name}</dt>
          <dd>{value(metrics)}</dd>
        </div>
      ))}
    </dl>
  );
}

function duration(ms: number | null): string {
  return orDash(ms, formatDuration);
}

function overallSpeed({ tokens_per_second: rate }: RequestMetrics): string {
  return orDash(rate, (each) => `${formatRate(each)} tok/s`);
}

function betweenTokens({ mean_itl_ms: mean, p95_itl_ms: p95 }: RequestMetrics): string {
  return mean === null || p95 === null ? "–" : `${formatMs(mean)} ms, p95 ${formatMs(p95)} ms`;
}

function batch({ mean_batch_size: mean, max_batch_size: most }: RequestMetrics): string {
  return orDash(mean, (each) => `${formatRate(each)}, at most ${formatCount(most)}`);
}

function drafts({ speculative_decoding: drafted }: RequestMetrics): string {
  if (drafted === null) return "none drafted";
  const { num_draft_tokens: all, num_accepted_draft_tokens: accepted, draft_acceptance_rate: rate } = drafted;
  return `${formatCount(accepted)} of ${formatCount(all)}, ${formatPercent(rate)}`;
}
