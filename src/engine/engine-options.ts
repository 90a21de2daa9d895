import type { ResolvedEngineConfig } from "../protocol/config.ts";
import type { ChorusError } from "../protocol/errors.ts";
import type { RequestReport, StepReport } from "../protocol/reports.ts";
import type { TokenBytes } from "./text/detokenizer.ts";
import type { GrammarMatcher } from "./sampling/grammar-matcher.ts";
import type { SequenceOutput } from "./text/output.ts";
import type { Runner } from "./runner.ts";
import type { BeamSearchParams, SamplingParams } from "./sampling/sampling-params.ts";
import type { SchedulerConfig } from "./scheduling/scheduler-config.ts";

export interface EngineOptions {
  readonly config: SchedulerConfig & Pick<ResolvedEngineConfig, "maxModelLen" | "maxQueueSize" | "runAhead">;
  readonly runner: Runner;
  /** The tokens that end a text, unless a request says ignoreEos. */
  readonly eosTokenIds: readonly number[];
  readonly tokenBytes: TokenBytes;
  /** The clock of all reports, in milliseconds. */
  readonly now: () => number;
  /** Resolves that many milliseconds later. */
  readonly delay: (ms: number) => Promise<void>;
  /** Called once a step with all that it brought, and between steps (report null) when something was queued or aborted. */
  readonly onOutputs: (
    outputs: readonly SequenceOutput[],
    report: StepReport | null,
    requests: readonly RequestReport[],
  ) => void;
  /** The engine is dead: whatever was open has ended without a further output. Called once, and nothing comes after. */
  readonly onFatal: (error: ChorusError) => void;
}

export interface EngineRequest {
  /** Unlike that of any other open request. */
  readonly requestId: string;
  /** Token ids. */
  readonly prompt: readonly number[];
  readonly params: SamplingParams;
  /** Number of choices. Choice i is a sequence of its own, drawn with the seed params.seed + i. */
  readonly n: number;
  /** Choices are the best n of its answers; null: each is drawn by itself. */
  readonly beamSearch: BeamSearchParams | null;
  /** What each choice must be, with its first mask prepared: the engine disposes of them. [anything] */
  readonly matchers?: readonly GrammarMatcher[] | null;
  /** The field the prompt came from ("messages", "prompt"), to be named when it is refused. */
  readonly param: string;
  readonly priority: number;
  readonly cacheSalt: string | null;
  /** How long after its arrival it ends, whatever it has; null: never. */
  readonly deadlineMs: number | null;
}
