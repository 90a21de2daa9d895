import type { TuningStore } from "../../src/backends/backend.ts";
import type { NamedSectionResult, BenchEnvironment } from "../report/bench-result.ts";

/** An environment with WebGPU: a worker in Chromium, or Node on Dawn. */
export interface Home {
  readonly name: HomeName;
  /** Name for display: "Chromium 142", "Node v20". */
  readonly runtime: string;
  readonly gpu: GPU;
  /** Where its engines store the fastest kernels. */
  readonly tuning: TuningStore;
}

export const HOME_NAMES = ["chromium", "node"] as const;
export type HomeName = (typeof HOME_NAMES)[number];

export interface HomeOptions {
  readonly minutes: number;
  /** Sizes of models, with commas between. [by the adapter] */
  readonly models?: string | undefined;
  /** Numbers of sequences at once, such as "1,8". [1 to 64] */
  readonly sequences?: string | undefined;
  /** Names of parts, with commas between. [all] */
  readonly parts?: string | undefined;
  readonly asHardware: boolean;
}

export interface HomeReport {
  readonly home: HomeName;
  readonly runtime: string;
  readonly adapter: string;
  readonly seconds: number;
  readonly groups: readonly Group[];
  /** Sentences about failed and omitted parts. */
  readonly missing: readonly string[];
  readonly toCome: readonly string[];
}

/** The parts of one model, or those without any. */
export interface Group {
  readonly model: string | null;
  readonly environment: BenchEnvironment | null;
  readonly sections: readonly NamedSectionResult[];
}

/** The mark in a table for an inexact result. */
export const WRONG = "WRONG";

/** A home's message to the driver, as JSON. */
export type Said =
  | { readonly kind: "now"; readonly what: string }
  | { readonly kind: "report"; readonly report: HomeReport }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "done" };
