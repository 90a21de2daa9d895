import { useEffect, useRef } from "react";
import type { RequestMetrics } from "../../../index.ts";
import { formatCount, formatCounted, formatDuration, formatMs, formatPercent, formatRate, orDash } from "../format.ts";

interface Figure {
  readonly name: string;
  readonly help: string;
  readonly value: (metrics: RequestMetrics) => string;
}

/** In display order. */
const FIGURES: readonly Figure[] = [
  { name: "Queue", help: "From asking to the first step", value: (m) => duration(m.queue_time_ms) },
  { name: "Prefill", help: "From the first step to the first token", value: (m) => duration(m.prefill_time_ms) },
  { name: "First token", help: "From asking to the first token", value: (m) => duration(m.time_to_first_token_ms) },
  { name: "Decode", help: "From the first token to the last", value: (m) => duration(m.generation_time_ms) },
  { name: "Total", help: "From asking to the end", value: (m) => duration(m.total_time_ms) },
  {
    name: "Overall speed",
    help: "Tokens over prefill and decode. Above the chat is the speed after the first token",
    value: (m) => orDash(m.tokens_per_second, (rate) => `${formatRate(rate)} tok/s`),
  },
  { name: "Between tokens", help: "Mean, and 95th percentile", value: betweenTokens },
  { name: "Steps", help: "Steps that computed this answer", value: (m) => formatCount(m.num_steps) },
  { name: "Batch", help: "Sequences that shared its steps: mean, and most", value: batch },
  { name: "Preemptions", help: "Times it gave up its cache blocks", value: (m) => formatCount(m.num_preemptions) },
  {
    name: "Cached prompt",
    help: "Prompt tokens from the prefix cache",
    value: (m) => formatCounted(m.cached_tokens, "token"),
  },
  { name: "Drafts accepted", help: "Drafted tokens that were accepted", value: drafts },
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
      {FIGURES.map(({ name, help, value }) => (
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
