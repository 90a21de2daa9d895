import type { LatencyName, ServingMetrics } from "./serving-metrics.ts";

const WIDTH = 50;
const LABEL_WIDTH = 40;

const LATENCIES: readonly (readonly [LatencyName, short: string, title: string])[] = [
  ["ttft", "TTFT", "Time to First Token"],
  ["tpot", "TPOT", "Time per Output Token (excl. 1st token)"],
  ["itl", "ITL", "Inter-token Latency"],
  ["e2el", "E2EL", "End-to-end Latency"],
];

/** Returns the block that `vllm bench serve` prints, plus the 95th percentile. */
export function servingReport(metrics: ServingMetrics): string {
  const fixed = (label: string, value: number) => line(label, value.toFixed(2));
  const lines = [
    rule(" Serving Benchmark Result ", "="),
    line("Successful requests:", metrics.completed),
    line("Failed requests:", metrics.failed),
    ...(metrics.max_concurrency === null ? [] : [line("Maximum request concurrency:", metrics.max_concurrency)]),
    ...(metrics.request_rate === "inf" ? [] : [fixed("Request rate configured (RPS):", metrics.request_rate)]),
    fixed("Benchmark duration (s):", metrics.duration),
    line("Total input tokens:", metrics.total_input_tokens),
    line("Total generated tokens:", metrics.total_output_tokens),
    fixed("Request throughput (req/s):", metrics.request_throughput),
    fixed("Output token throughput (tok/s):", metrics.output_throughput),
    fixed("Peak output token throughput (tok/s):", metrics.max_output_tokens_per_s),
    fixed("Peak concurrent requests:", metrics.max_concurrent_requests),
    fixed("Total token throughput (tok/s):", metrics.total_token_throughput),
  ];
  for (const [name, short, title] of LATENCIES) {
    lines.push(rule(title, "-"));
    for (const statistic of ["mean", "median", "p95", "p99"] as const) {
      const label = statistic[0]?.toUpperCase() + statistic.slice(1);
      lines.push(fixed(`${label} ${short} (ms):`, metrics[`${statistic}_${name}_ms`]));
    }
  }
  return [...lines, "=".repeat(WIDTH)].join("\n");
}

function rule(title: string, fill: string): string {
  const left = Math.floor((WIDTH - title.length) / 2);
  return (fill.repeat(left) + title).padEnd(WIDTH, fill);
}

function line(label: string, value: string | number): string {
  return `${label.padEnd(LABEL_WIDTH)} ${String(value).padEnd(9)}`.trimEnd();
}
