import type { Figure, ResultChart, ResultTable } from "./bench-result.ts";

export type Columns<Item> = Readonly<Record<string, (item: Item) => Figure>>;

export function tableOf<Item>(title: string, items: readonly Item[], columns: Columns<Item>): ResultTable {
  const figures = Object.values(columns);
  return { title, columns: Object.keys(columns), rows: items.map((item) => figures.map((figureOf) => figureOf(item))) };
}

interface Axes {
  readonly x: string;
  readonly y: string;
  /** ["linear"] */
  readonly xScale?: ResultChart["xScale"];
}

export function chartOf(
  title: string,
  { x, y, xScale = "linear" }: Axes,
  lines: Readonly<Record<string, ResultChart["series"][number]["points"]>>,
): ResultChart {
  const series = Object.entries(lines).map(([name, points]) => ({ name, points }));
  return { title, xName: x, yName: y, xScale, series };
}
