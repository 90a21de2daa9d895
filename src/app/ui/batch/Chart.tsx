import type { ChartData, ChartSpec } from "./charts.ts";
import { drawChart, plotWidthOf } from "./draw-chart.ts";
import { Plot } from "./Plot.tsx";

/** The place in time whose values all charts show. */
export interface ChartCursor {
  /** Samples before the newest one; null if none is pointed at. */
  readonly ago: number | null;
  /** Its name in words. */
  readonly when: string;
  /** Label of the chart that has it: the others only show it. */
  readonly owner: string;
  readonly move: (ago: number | null, owner: string) => void;
}

interface ChartProps {
  chart: ChartSpec;
  data: ChartData;
  /** Number of samples for which there is room. */
  places: number;
  cursor: ChartCursor;
}

const VALUE = "inline-block min-w-[2ch] text-right text-ink [font:600_13px/16px_var(--sans)]";

/** A chart of the last minute below its current values, with the values under the pointer. */
export function Chart({ chart, data, places, cursor: { ago, when, owner, move } }: ChartProps) {
  const { label, name, value, unit, dotted, words } = chart;
  const count = data.samples.length;
  const pointed = ago === null ? undefined : data.samples.at(-1 - ago);
  const said = pointed ? `${when}: ${words(pointed)}` : "No moment";
  return (
    <div className="flex min-h-0 flex-col">
      <h4 className="flex h-5 flex-none items-baseline justify-between gap-2 t-12 whitespace-nowrap text-ink-3">
        <span className="only:contents">
          {name} <b className={VALUE}>{value(data)}</b>
          {unit}
        </span>
        {dotted && (
          <span>
            <u className="decoration-dotted underline-offset-3">{dotted.name}</u>{" "}
            <b className={VALUE}>{dotted.value(data)}</b>
          </span>
        )}
      </h4>
      <Plot
        className="min-h-0 min-w-0 flex-1"
        label={label}
        hint="Arrow keys move through time, Home and End to the oldest and the newest values."
        value={count - (ago ?? 0)}
        max={count}
        words={said}
        draw={(surface) => drawChart(surface, { chart, data, places, ago })}
        cursor={ago}
        onCursor={(next) => {
          move(next === null || count === 0 ? null : Math.max(0, Math.min(count - 1, next)), label);
        }}
        cellAt={({ x }, width) => Math.round((1 - x / plotWidthOf(width)) * (places - 1))}
        move={(columns, rows) => (rows === 0 ? (ago === null ? 0 : ago - columns) : undefined)}
        cardAt={
          ago === null || owner !== label
            ? null
            : (width, height) => ({ left: plotWidthOf(width) * (1 - ago / (places - 1)), top: 0, bottom: height })
        }
        card={<p>{said}</p>}
      />
    </div>
  );
}
