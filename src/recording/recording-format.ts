// A run as JSON lines: the model and how it was served, and then all events of its engine, in order.
//
//   {"type":"header","version":3,"app":"0.1.0","model":{...},"config":{...}}
//   {"type":"request",...}  {"type":"asked",...}  {"type":"step",...}  {"type":"answered",...}  {"type":"kernels",...}
//   {"type":"alert",...}
//
// "asked" and "answered" are the words: prompts, as text and as a request that gives the same tokens again, and what each
// step added to the answers. "kernels" are the times of a step's kernels, of steps that were timed so. Older versions had
// none of these, nor the config, nor the slots and blocks of a step's sequences.

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

/** Of what recordRun() writes. */
export const FORMAT = 3;

export type RecordedEvent =
  | ({ readonly type: "step" } & StepReport)
  | ({ readonly type: "request" } & RequestReport)
  | ({ readonly type: "asked" } & Omit<AskedReport, "status">)
  | ({ readonly type: "answered" } & Omit<AnsweredReport, "status">)
  | ({ readonly type: "kernels" } & KernelsReport)
  | ({ readonly type: "alert" } & Alert);

export interface Recording {
  /** Of the format. */
  readonly version: number;
  readonly model: ModelCard;
  /** Null in older versions. */
  readonly config: RecordedConfig | null;
  readonly events: readonly RecordedEvent[];
}

/** How the engine served that was recorded. */
export type RecordedConfig = Pick<
  ResolvedEngineConfig,
  | "maxNumSeqs"
  | "maxNumBatchedTokens"
  | "maxModelLen"
  | "runAhead"
  | "enablePrefixCaching"
  | "schedulingPolicy"
  | "batchingMode"
  | "cpuMath"
>;

export function recordedConfig(config: ResolvedEngineConfig): RecordedConfig {
  const { maxNumSeqs, maxNumBatchedTokens, maxModelLen, runAhead } = config;
  const { enablePrefixCaching, schedulingPolicy, batchingMode, cpuMath } = config;
  const sizes = { maxNumSeqs, maxNumBatchedTokens, maxModelLen, runAhead };
  return { ...sizes, enablePrefixCaching, schedulingPolicy, batchingMode, cpuMath };
}
