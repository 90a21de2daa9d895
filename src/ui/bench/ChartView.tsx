import { useCallback, useMemo, useState } from "react";

import type { ResultChart } from "../../bench/report/bench-result.ts";
import { chartSvg } from "../../bench/report/chart-svg.ts";
import css from "./ChartView.module.css";

const HEIGHT = 300;

/** Drawn at the width there is, so that its text keeps its size. */
export function ChartView({ chart }: { chart: ResultChart }) {
  const [width, setWidth] = useState(0);
  const observe = useCallback((element: HTMLElement | null) => {
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const svg = useMemo(() => (width > 0 ? chartSvg(chart, { width, height: HEIGHT }) : ""), [chart, width]);
  return (
    <figure ref={observe} className={css.chart}>
      <figcaption>{chart.title}</figcaption>
      {/* Our own text, with every word of it escaped. */}
      <div style={{ height: HEIGHT }} dangerouslySetInnerHTML={{ __html: svg }} />
    </figure>
  );
}
