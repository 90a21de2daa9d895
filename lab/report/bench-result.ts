// A run's result as plain data. The page shows it, JSON saves it, and docs/benchmarks/ is generated from it.

import type { BenchOptions } from "../page/bench-options.ts";
import type { LoadCell } from "../load/load-cell.ts";

/** null: was not measured, or can't be. */
export type Figure = number | string | null;

export interface ResultTable {
  readonly title: string;
  /** Names with their units; the first column names the rows. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Figure[])[];
}

export interface ChartSeries {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface ResultChart {
  readonly title: string;
  readonly xName: string;
  readonly yName: string;
  /** How x is spaced: by its logarithm for counts that double, else evenly. y begins at 0. */
  readonly xScale: "log" | "linear";
  readonly series: readonly ChartSeries[];
}

interface SectionResult {
  readonly headlines: readonly (readonly [value: string, label: string])[];
  readonly charts: readonly ResultChart[];
  readonly tables: readonly ResultTable[];
  readonly notes: readonly string[];
  /** The configurations that were measured under load: rows of the CSV. [none] */
  readonly cells?: readonly LoadCell[];
}

/** The figures of a section; the rest of its result is empty. */
export type SectionFindings = Pick<SectionResult, "tables"> & Partial<SectionResult>;

export interface NamedSectionResult extends SectionResult {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly seconds: number;
}

export interface BenchEnvironment {
  readonly version: string;
  readonly browser: string;
  readonly adapter: string;
  readonly model: string;
  readonly parameters: number;
  readonly contextLength: number;
  readonly dtype: string;
  readonly kvCacheDtype: string;
  readonly cacheBlocks: number;
}

export interface BenchResult {
  readonly environment: BenchEnvironment;
  readonly options: BenchOptions;
  /** ISO 8601 */
  readonly startedAt: string;
  readonly seconds: number;
  readonly sections: readonly NamedSectionResult[];
  /** Possible distortions, such as a hidden tab. */
  readonly warnings: readonly string[];
}
