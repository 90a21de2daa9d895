import type { ReactNode } from "react";
import type { Percentiles } from "../../state/batch/percentiles.ts";
import { DataTable } from "../components/DataTable.tsx";
import { formatMs } from "../format.ts";

const NAMES = ["p50", "p95", "p99"] as const;
/** The end of the bars' logarithmic scale, which shows how far apart the percentiles are. */
const LONGEST_MS = 10_000;

interface LatencyFiguresProps {
  ttft: Percentiles | null;
  itl: Percentiles | null;
}

/** Percentiles of the time to the first token and between tokens. */
export function LatencyFigures({ ttft, itl }: LatencyFiguresProps) {
  const rows = [rowOf("TTFT", "Time to first token", ttft), rowOf("ITL", "Inter-token latency", itl)];
  return <DataTable className="latency mt-1 flex-none t-12" columns={["Latency, ms", ...NAMES]} rows={rows} />;
}

function rowOf(name: string, title: string, percentiles: Percentiles | null): readonly ReactNode[] {
  const words = (
    <span className="row h-4.5 pr-4 text-ink-2">
      <abbr className="w-9 no-underline" title={title}>
        {name}
      </abbr>
      <span className="relative h-1 flex-1" aria-hidden="true">
        {percentiles &&
          NAMES.toReversed().map((each) => (
            <i
              key={each}
              className="absolute inset-y-0 left-0 bg-line-strong nth-2:bg-ink-3 nth-3:bg-ink"
              style={{ width: `${widthOf(percentiles[each])}%` }}
            />
          ))}
      </span>
    </span>
  );
  return [words, ...NAMES.map((each) => (percentiles ? formatMs(percentiles[each]) : "–"))];
}

function widthOf(ms: number): number {
  return Math.min(100, (100 * Math.log10(1 + ms)) / Math.log10(1 + LONGEST_MS));
}
