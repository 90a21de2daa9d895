// A run as JSON lines: the model and its config, and then all events of its engine, in order.
//
//   {"type":"header","version":3,"app":"0.1.0","model":{...},"config":{...}}
//   {"type":"request",...}  {"type":"asked",...}  {"type":"step",...}  {"type":"answered",...}  {"type":"kernels",...}
//   {"type":"alert",...}
//
// "asked" has the prompts, as text and as a request that gives the same tokens again; "answered" has the text that each step
// added to the answers. "kernels" has the times of a timed step's kernels.

import type { ResolvedEngineConfig } from "../protocol/config.ts";
import type {
  Alert,
  AnsweredReport,
  AskedReport,
  KernelsReport,
  ModelCard,
  RequestReport,
  StepReport,
} from "../protocol/reports.ts";

/** The version that recordRun() writes. */
export const FORMAT = 3;

export type RecordedEvent =
  | ({ readonly type: "step" } & StepReport)
  | ({ readonly type: "request" } & RequestReport)
  | ({ readonly type: "asked" } & Omit<AskedReport, "status">)
  | ({ readonly type: "answered" } & Omit<AnsweredReport, "status">)
  | ({ readonly type: "kernels" } & KernelsReport)
  | ({ readonly type: "alert" } & Alert);

export interface Recording {
  readonly version: number;
  readonly model: ModelCard;
  readonly config: RecordedConfig;
  readonly events: readonly RecordedEvent[];
}

const RECORDED_FIELDS = [
  "maxNumSeqs",
  "maxNumBatchedTokens",
  "maxModelLen",
  "runAhead",
  "enablePrefixCaching",
  "schedulingPolicy",
  "batchingMode",
  "cpuMath",
] as const satisfies readonly (keyof ResolvedEngineConfig)[];

export type RecordedConfig = Pick<ResolvedEngineConfig, (typeof RECORDED_FIELDS)[number]>;

export function recordedConfig(config: ResolvedEngineConfig): RecordedConfig {
  return Object.fromEntries(RECORDED_FIELDS.map((name) => [name, config[name]])) as unknown as RecordedConfig;
}
