import type { TuningStore } from "../../src/backends/backend.ts";
import type { NamedSectionResult, BenchEnvironment } from "../report/bench-result.ts";

/** Where WebGPU is: a worker in Chromium, or Node on Dawn. */
export interface Home {
  readonly name: HomeName;
  /** For people: "Chromium 142", "Node v20". */
  readonly runtime: string;
  readonly gpu: GPU;
  /** Where its engines keep which kernels are fastest. */
  readonly tuning: TuningStore;
}

export const HOME_NAMES = ["chromium", "node"] as const;
export type HomeName = (typeof HOME_NAMES)[number];

/** What a home is asked for. */
export interface HomeOptions {
  readonly minutes: number;
  /** Sizes of models. [by the adapter] */
  readonly models: readonly string[] | null;
  /** How many at once, as "1,8". [1 to 64] */
  readonly sequences: string | null;
  /** Names of parts. [all] */
  readonly parts: readonly string[] | null;
  /** Whether a software adapter is to be taken for a GPU. */
  readonly asHardware: boolean;
}

/** What a home has measured so far. */
export interface HomeReport {
  readonly home: HomeName;
  readonly runtime: string;
  readonly adapter: string;
  readonly seconds: number;
  readonly groups: readonly Group[];
  /** Sentences: what has failed, and what was left out. */
  readonly missing: readonly string[];
  /** Names of the parts that are still to come. */
  readonly toCome: readonly string[];
}

/** The parts of one model, or those without any. */
export interface Group {
  readonly model: string | null;
  readonly environment: BenchEnvironment | null;
  readonly sections: readonly NamedSectionResult[];
}

/** What stands in a table where something is not exact. */
export const WRONG = "WRONG";

/** What a home says to the driver, as JSON. */
export type Said =
  | { readonly kind: "now"; readonly what: string }
  | { readonly kind: "report"; readonly report: HomeReport }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "done" };
