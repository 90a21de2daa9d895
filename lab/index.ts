// The lab's interface for the app, whose benchmark page is built on this alone.

export { BenchControl, type BenchState } from "./page/bench-control.ts";
export {
  type BenchOptions,
  COUNT_NAMES,
  COUNTS,
  MEASURE_SECONDS,
  EMBEDDED,
  SECTION_IDS,
  SEQUENCE_COUNTS,
  SECTIONS,
  secondsOf,
  formatDuration,
  WEIGHTS_DTYPES,
  readBenchOptions,
} from "./page/bench-options.ts";
export { MODEL_SIZES } from "./model/model-sizes.ts";
export type { BenchResult, NamedSectionResult, ResultChart, ResultTable } from "./report/bench-result.ts";
export { chartSvg, hasLine } from "./report/chart-svg.ts";
export { formatFigure } from "./report/format-figure.ts";
export { reportCsv } from "./report/report-csv.ts";
export { reportMarkdown } from "./report/report-markdown.ts";
