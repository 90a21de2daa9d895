import type { Percentiles } from "../../state/batch/percentiles.ts";
import { formatMs } from "../format.ts";
import css from "./LatencyFigures.module.css";

const NAMES = ["p50", "p95", "p99"] as const;
/** The end of the bars' logarithmic scale, which shows how far apart the percentiles are. */
const LONGEST_MS = 10_000;

interface LatencyFiguresProps {
  ttft: Percentiles | null;
  itl: Percentiles | null;
}

/** Percentiles of the time to the first token and between tokens. */
export function LatencyFigures({ ttft, itl }: LatencyFiguresProps) {
  return (
    <table className={css.latency}>
      <thead>
        <tr>
          <th scope="col">Latency, ms</th>
          {NAMES.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <LatencyRow name="TTFT" title="Time to first token" percentiles={ttft} />
        <LatencyRow name="ITL" title="Inter-token latency" percentiles={itl} />
      </tbody>
    </table>
  );
}

function LatencyRow({ name, title, percentiles }: { name: string; title: string; percentiles: Percentiles | null }) {
  return (
    <tr>
      <th scope="row">
        <abbr title={title}>{name}</abbr>
        <span className={css.bar} aria-hidden="true">
          {percentiles &&
            NAMES.toReversed().map((each) => <i key={each} style={{ width: `${widthOf(percentiles[each])}%` }} />)}
        </span>
      </th>
      {NAMES.map((each) => (
        <td key={each}>{percentiles ? formatMs(percentiles[each]) : "–"}</td>
      ))}
    </tr>
  );
}

function widthOf(ms: number): number {
  return Math.min(100, (100 * Math.log10(1 + ms)) / Math.log10(1 + LONGEST_MS));
}
