import type { ReactNode } from "react";
import { drawChart, type ChartDrawing } from "./draw-chart.ts";
import { currentInks, type Inks } from "./inks.ts";
import { useCanvas } from "./use-canvas.ts";
import css from "./Chart.module.css";

interface ChartProps {
  /** The current values, shown first. */
  title: ReactNode;
  /** Accessible name; the numbers are in the table. */
  label: string;
  drawing: (inks: Inks) => ChartDrawing;
}

/** A chart of the last minute below its current value. */
export function Chart({ title, label, drawing }: ChartProps) {
  const { canvas } = useCanvas((g, width, height) => {
    const inks = currentInks();
    drawChart(g, width, height, inks, drawing(inks));
  });
  return (
    <div className={css.chart}>
      <h4>{title}</h4>
      <canvas ref={canvas}>{label}</canvas>
    </div>
  );
}
