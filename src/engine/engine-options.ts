import type { ResolvedEngineConfig } from "../protocol/config.ts";
import type { ChorusError } from "../protocol/errors.ts";
import type { KernelsReport, RequestReport, StepReport } from "../protocol/reports.ts";
import type { TokenBytes } from "./text/detokenizer.ts";
import type { GrammarMatcher } from "./sampling/grammar-matcher.ts";
import type { SequenceOutput } from "./text/output.ts";
import type { ReasoningState } from "./text/reasoning-splitter.ts";
import type { Runners } from "./runner.ts";
import type { BeamSearchParams, SamplingParams } from "./sampling/sampling-params.ts";
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

export interface EngineRequest {
  /** Unique among open requests. */
  readonly requestId: string;
  /** Token ids. */
  readonly prompt: readonly number[];
  readonly params: SamplingParams;
  /** Number of choices. Choice i is its own sequence, with the seed params.seed + i. */
  readonly n: number;
  /** If set, the choices are the best n answers of this search; null samples each choice independently. */
  readonly beamSearch: BeamSearchParams | null;
  /** A grammar per choice, with its first mask prepared. The engine disposes of them. [none] */
  readonly matchers?: readonly GrammarMatcher[] | null;
  /** Where the output begins. ["none": it has no thought] */
  readonly reasoning?: ReasoningState;
  /** The request's field with the prompt ("messages", "prompt"), for error messages. */
  readonly param: string;
  readonly priority: number;
  readonly cacheSalt: string | null;
  /** Milliseconds after arrival at which the request is aborted; null for never. */
  readonly deadlineMs: number | null;
}
