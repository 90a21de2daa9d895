import type { RowTiles } from "../engine/row-tiles.ts";
import type { Runner } from "../engine/runner.ts";
import type { Graph } from "../models/graph.ts";
import type { Model } from "../models/model.ts";
import type { ModelWeights } from "../models/model-weights.ts";
import type { BackendName, ResolvedEngineConfig } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { Trials } from "./trials.ts";

/** Computes models: with WebGPU, or on the CPU. A platform offers backends, and a host opens one. */
export interface Backend {
  readonly name: BackendName;
  /** Returns the memory that a model takes, without opening the backend. */
  memory(model: Model, sizes: EngineSizes): ModelMemory;
  /**
   * @param trials of the load that it is for
   * @throws ChorusError webgpu_unavailable or wasm_unavailable, with the reason; BackendMissing if there is none
   */
  open(trials?: Trials): Promise<OpenedBackend>;
}

/** Thrown by open() where there is no such backend. Any other error means that there is one, and that it fails. */
export class BackendMissing extends ChorusError {}

/** Sizes that decide how much memory a model takes. */
export type EngineSizes = Pick<
  ResolvedEngineConfig,
  "dtype" | "kvCacheDtype" | "numGpuBlocks" | "blockSize" | "maxNumSeqs"
> &
  Partial<Pick<ResolvedEngineConfig, "speculation">>;

/** Defaults that a backend may set by itself. */
type DefaultConfig = Partial<Pick<ResolvedEngineConfig, "dtype" | "activationDtype" | "maxNumBatchedTokens">>;

export interface ModelMemory {
  readonly weightBytes: number;
  readonly kvCacheBytes: number;
}

export interface OpenedBackend extends Pick<Backend, "name" | "memory"> {
  /** Name for display: "Apple M3", "SwiftShader (software)". */
  readonly adapterName: string;
  /** Whether it is a GPU emulated on the CPU: slower than the CPU backend. */
  readonly isSoftware: boolean;
  /** Resolves when the device can't go on: lost, out of memory, or used wrongly by us. Never rejects. */
  readonly failure: Promise<ChorusError>;
  /** Returns the defaults for a model on this device. */
  defaults(model: Model): DefaultConfig;
  /** @throws ChorusError out_of_memory or model_unsupported, saying what would fit */
  checkFits(model: Model, engine: ResolvedEngineConfig): void;
  /** @throws ChorusError model_*, out_of_memory; then everything is freed */
  load(options: LoadOptions): Promise<LoadedRunner>;
  /** Frees everything, the device too. Idempotent. */
  close(): void;
}

/** How tokens are drawn unless a request says otherwise. */
export interface CommonDraws {
  readonly haveFilters: boolean;
  readonly haveRules: boolean;
}

export interface LoadOptions {
  readonly weights: ModelWeights;
  readonly engine: ResolvedEngineConfig;
  /** Tokens that may be drawn: further rows of the embedding are padding. [as many as it has rows] */
  readonly vocabSize?: number;
  /** Most steps that are submitted before an earlier one's result is known. [as many as an engine runs ahead] */
  readonly maxStepsInFlight?: number;
  readonly onKernel?: (compiled: number, total: number) => void;
  /** Where measured kernel choices are kept. [the default ones are taken, unmeasured] */
  readonly tuning?: TuningStore;
  /** Keeps which kernels are left out, and whether each is proved. [none, no] */
  readonly trials?: Trials;
  /** A GPU compiles the kernels for these beside those of the first step. [neither] */
  readonly draws?: CommonDraws;
  /** Checks a GPU's kernels for some draws once they are compiled, before any sequence uses them. [unchecked] */
  readonly checkDraws?: CheckDraws;
  /** "plain": those that ask least of a driver, without workgroup memory and optional features. ["default"] */
  readonly kernels?: KernelChoice;
}

/** What only some sequences ask of a sampler. */
export type DrawKind = "filters" | "rules" | "top";

/**
 * @param runner computes a part of the model that needs no cache, beside the steps of sequences
 * @param slot one that no sequence has
 */
export type CheckDraws = (runner: Runner, slot: number, kind: DrawKind) => Promise<boolean>;

export const KERNEL_CHOICES = ["default", "plain"] as const;
export type KernelChoice = (typeof KERNEL_CHOICES)[number];

export interface LoadedRunner extends Runner {
  /** Bytes of the weights as they are kept. */
  readonly weightBytes: number;
  /** The adapter's name with what loading has decided: "CPU, 3 threads". */
  readonly adapterName: string;
  /** For the log: which kernels compute products and attention, and why. */
  readonly kernelNotes: readonly string[];
  /** Numbers of rows that its kernels compute together. [each row costs its own time] */
  readonly rowTiles?: RowTiles;
  /** Kernels whose answers must be checked. [null: other backends are compared with this one] */
  readonly kernels?: CheckedKernels | null;
  /**
   * Compiles kernels that the first step can do without, while steps are computed. Resolves to the kernels that can't
   * be used, each with its reason. Call it once. [all is compiled before]
   * @param when resolves when kernels that nobody waits for may begin to compile [at once]
   */
  complete?(when?: Promise<unknown>): Promise<readonly string[]>;
  /** Asks kernels once more for known answers, between steps. Resolves to those whose answers have changed; they aren't used. */
  recheck?(): Promise<readonly string[]>;
  /**
   * Starts to time each kernel of some steps, or stops. Resolves to false where the device refuses the queries and buffers.
   * Never rejects. [null: it has no clock for that]
   */
  readonly timeKernels?: ((isRequested: boolean) => Promise<boolean>) | null;
  dispose(): void;
}

/** Kernels that a driver has compiled, and may have compiled wrongly. */
export interface CheckedKernels {
  /** Returns a hash of their texts. */
  id(): Promise<string>;
  /**
   * Returns a runner of some of the model's operations, with the same kernels, weights and cache. Its steps must be over
   * before the model's begin.
   */
  part(graph: Graph): Promise<Runner>;
}

/** Keeps measurements of an adapter: the fastest kernels, and whether answers are right. */
export interface TuningStore {
  load(key: string): Promise<readonly string[] | undefined>;
  save(key: string, names: readonly string[]): Promise<void>;
}
