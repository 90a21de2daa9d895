import type { ResolvedEngineConfig } from "../protocol/config.ts";
import type { ChorusError } from "../protocol/errors.ts";
import type { KernelsReport, RequestReport, StepReport } from "../protocol/reports.ts";
import type { TokenBytes } from "./text/detokenizer.ts";
import type { SequenceOutput } from "./text/output.ts";
import type { Runners } from "./runner.ts";
import type { SchedulerConfig } from "./scheduling/scheduler-config.ts";

export interface EngineOptions extends Runners {
  readonly config: SchedulerConfig & Pick<ResolvedEngineConfig, "maxModelLen" | "maxQueueSize" | "runAhead">;
  /**
   * Replaces runners whose device was lost. Rejects if there are no others. Without it a loss ends the engine.
   */
  readonly replaceRunners?: (loss: ChorusError) => Promise<Runners>;
  /** Tokens that end a text, unless a request sets ignoreEos. */
  readonly eosTokenIds: readonly number[];
  readonly tokenBytes: TokenBytes;
  /** The clock of all reports, in milliseconds. */
  readonly now: () => number;
  /** Resolves that many milliseconds later. */
  readonly delay: (ms: number) => Promise<void>;
  /**
   * Called once per step with its results, and between steps (report null) after requests were queued or aborted. `kernels`
   * is null unless the step's kernels were timed.
   */
  readonly onOutputs: (
    outputs: readonly SequenceOutput[],
    report: StepReport | null,
    requests: readonly RequestReport[],
    kernels: KernelsReport | null,
  ) => void;
  /** Called once, when the engine dies. Open requests get no further output. */
  readonly onFatal: (error: ChorusError) => void;
}
