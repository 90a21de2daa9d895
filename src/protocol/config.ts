// The config of createEngine: one table of fields. Types, checks, live changes, the app's form, the documents' tables and the tests
// of limits follow from it. camelCase, vLLM's names.

/**
 * "stored": packed as a GGUF file, or MLX's safetensors, have them. "q8" and "q4" are for files that are not packed: integers of
 * 8 or 4 bits, each group of 32 with a scale.
 */
export const WEIGHTS_DTYPES = ["stored", "f32", "f16", "q8", "q4"] as const;
export type WeightsDtype = (typeof WEIGHTS_DTYPES)[number];
/** Formats of weights that are floats in their file. */
export type FloatsDtype = Exclude<WeightsDtype, "stored">;
/** What computes: a GPU by WebGPU, or the processor by WebAssembly. */
export type BackendName = "webgpu" | "cpu";
export const BACKEND_CHOICES = ["auto", "webgpu", "cpu"] as const;
export type BackendChoice = (typeof BACKEND_CHOICES)[number];

/**
 * "portable": products are rounded before they are added, which has the same bits in every browser. "fastest": fused where
 * the processor can, which has the same bits on one machine.
 */
export const CPU_MATHS = ["portable", "fastest"] as const;
export type CpuMath = (typeof CPU_MATHS)[number];

/** What quantised weights are multiplied with: activations as they are, or in integers of 8 bits. */
export type ActivationDtype = "f32" | "int8";
export const ACTIVATION_CHOICES = ["auto", "f32", "int8"] as const satisfies readonly ("auto" | ActivationDtype)[];

export const KV_CACHE_DTYPES = ["f32", "f16"] as const;
export type KvCacheDtype = (typeof KV_CACHE_DTYPES)[number];

export const SCHEDULING_POLICIES = ["fcfs", "priority", "shortest-remaining", "balanced"] as const;
/** Which requests are served first and preempted last. Waiting improves the place, so no request starves. */
export type SchedulingPolicy = (typeof SCHEDULING_POLICIES)[number];

export const BATCHING_MODES = ["continuous", "static", "sequential"] as const;
/** "static": a batch runs to its end before the next begins. "sequential": one sequence at a time. For comparison. */
export type BatchingMode = (typeof BATCHING_MODES)[number];

/**
 * Which logits the returned log-probabilities describe. "raw_logprobs": the model's own. "processed_logprobs": those that
 * the token was drawn from, after penalties, biases, grammars, temperature (1 if greedy) and filters, normalised over the
 * remaining tokens; excluded tokens are not returned. Those of a prompt are always raw.
 */
export const LOGPROBS_MODES = ["raw_logprobs", "processed_logprobs"] as const;
export type LogprobsMode = (typeof LOGPROBS_MODES)[number];

export const LOG_LEVELS = ["silent", "error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * A model in Hugging Face layout, or a GGUF file. "owner/name" is a model of the hub (two names, no slash at the end), and so is
 * its address there; "owner/name:Q4_K_M" and "owner/name/FILE.gguf" are GGUF files of one. Any other string is the URL of a folder
 * or a GGUF file, absolute or relative to the page ("models/name/", "./models/name.gguf"); in Node also a path. Or the files.
 */
export type ModelSource = string | File | File[];

/**
 * A field's valid values: a number from `min` (without it, if `above`) to `max`, one of some names, true or false, or an object of
 * fields of its own. null is as if it were left out.
 */
export type ConfigField = (
  | { readonly kind: "integer" | "number"; readonly min: number; readonly max: number; readonly above?: boolean }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | { readonly kind: "flag" }
  | { readonly kind: "speculation" | "alerts" }
) & {
  /** Left out: the model or the machine decides. */
  readonly default?: number | string | boolean | null;
  /** live: from the next step on. room: so, if the engine was loaded with room for it. restart: the model is loaded again. */
  readonly takesEffect?: "live" | "room" | "restart";
  /** Its name in forms. [it is in none] */
  readonly label?: string;
  /** Shown beside the label. */
  readonly unit?: string;
  /** What forms call its choices. [the choice, capitalised] */
  readonly names?: Readonly<Record<string, string>>;
};

type ValueOf<Field> = Field extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Field extends { readonly kind: infer Kind extends keyof Values }
    ? Values[Kind]
    : never;

interface Values {
  integer: number;
  number: number;
  flag: boolean;
  speculation: SpeculationConfig;
  alerts: AlertThresholds;
}

/** Fields as a caller gives them: null as well where that is the default. */
export type GivenFields<Table, Also = never> = {
  -readonly [Name in keyof Table]?:
    | ValueOf<Table[Name]>
    | (Table[Name] extends { readonly default: null } ? null : never)
    | Also;
};

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

const LIVE = { takesEffect: "live" } as const;
const ROOM = { takesEffect: "room" } as const;
const RESTART = { takesEffect: "restart" } as const;

/** A field's docstring is what forms and documents say of it. In brackets: the default; the unit. */
export const CONFIG_FIELDS = {
  /** "auto": a GPU, else the CPU, else a GPU that software emulates. "webgpu" takes an emulated one, too. ["auto"] */
  backend: { ...RESTART, kind: "choice", choices: BACKEND_CHOICES, default: "auto" },
  /**
   * "fastest": a multiplication and an addition may be one operation, so other machines may give other bits. "portable": every
   * machine gives the same bits. ["fastest", but "portable" with activations in int8]
   */
  cpuMath: { ...RESTART, kind: "choice", choices: CPU_MATHS },
  /** Threads that compute on the CPU. [as many as a short trial finds fastest, fewer than the machine has cores; threads] */
  cpuThreads: { ...RESTART, kind: "integer", min: 1, max: 64, default: null },
  /**
   * Format of the weights; sums are always f32. ["stored" if the file packs them; else "f16", but "f32" on the CPU up to
   * 256 MiB and on a software adapter without f16]
   */
  dtype: { ...RESTART, kind: "choice", choices: WEIGHTS_DTYPES },
  /**
   * What quantised weights are multiplied with: activations as they are ("f32"), or rounded to integers of 8 bits, each 32 with a
   * scale ("int8"): often twice as fast on the CPU. ["auto": "int8" on the CPU, "f32" on a GPU]
   */
  activationDtype: { ...RESTART, kind: "choice", choices: ACTIVATION_CHOICES, default: "auto" },
  /** Format of the cached keys and values. "f32" takes twice the memory. ["f16"] */
  kvCacheDtype: { ...RESTART, kind: "choice", choices: KV_CACHE_DTYPES, default: "f16" },
  /** Longest prompt plus output. [the model's context; tokens] */
  maxModelLen: { ...RESTART, kind: "integer", min: 2, max: MAX_INTEGER },
  /** Seed from which requests without a seed get theirs. [random; integer] */
  seed: { ...RESTART, kind: "integer", min: 0, max: MAX_INTEGER },
  /** Which logits log-probabilities describe: the model's own, or those after all rules and filters. ["raw_logprobs"] */
  logprobsMode: { ...RESTART, kind: "choice", choices: LOGPROBS_MODES, default: "raw_logprobs" },
  /**
   * How requests share steps. Continuous: they join and leave at every step. Static: a batch runs to its end before the next
   * begins. Sequential: one after the other. The last two are for comparison. ["continuous"]
   */
  batchingMode: { ...LIVE, kind: "choice", choices: BATCHING_MODES, default: "continuous", label: "Batching" },
  /** How long a static batch waits for more requests before it starts. [50; ms] */
  batchWindowMs: { ...LIVE, kind: "number", min: 0, max: 60_000, default: 50, label: "Batch window", unit: "ms" },
  /** This many sequences, such as chats' answers, run at once; further ones wait. [64; sequences] */
  maxNumSeqs: { ...ROOM, kind: "integer", min: 1, max: 1024, default: 64, label: "Most answers at once" },
  /** A step computes at most this many tokens, of prompts and answers together. [256, on the CPU 64 or more for maxNumSeqs; rows] */
  maxNumBatchedTokens: {
    ...ROOM,
    kind: "integer",
    min: 1,
    max: 8192,
    default: 256,
    label: "Token budget",
    unit: "per step",
  },
  /** A step computes at most this many tokens of one prompt; 0 allows the whole budget. [0; rows] */
  longPrefillTokenThreshold: {
    ...LIVE,
    kind: "integer",
    min: 0,
    max: 8192,
    default: 0,
    label: "Prompt chunk size",
    unit: "tokens",
  },
  /**
   * Prompts that join may make a step this many times as long as the running answers alone do. A large number lets them use the
   * whole budget. [2; ratio]
   */
  maxStepStretch: {
    ...LIVE,
    kind: "number",
    min: 1,
    max: 1000,
    default: 2,
    label: "How much new prompts may slow running answers",
    unit: "(times)",
  },
  /** Which request is next, and is preempted last. By priority: the lowest number. Waiting improves a request's place. ["fcfs"] */
  schedulingPolicy: {
    ...LIVE,
    kind: "choice",
    choices: SCHEDULING_POLICIES,
    names: { fcfs: "By arrival", priority: "By priority", "shortest-remaining": "Shortest first" },
    default: "fcfs",
    label: "Policy",
  },
  /** When this many sequences wait, further requests are refused (queue_full). [null, no limit; sequences] */
  maxQueueSize: {
    ...LIVE,
    kind: "integer",
    min: 0,
    max: MAX_INTEGER,
    default: null,
    label: "Longest queue",
    unit: "sequences",
  },
  /** The token budget and the number of sequences adapt so that a step takes at most this long. [null, they stay fixed; ms] */
  targetItlMs: {
    ...LIVE,
    kind: "number",
    min: 0,
    above: true,
    max: MAX_INTEGER,
    default: null,
    label: "Target latency",
    unit: "ms",
  },
  /** Tokens per cache block; 16 is the only supported value. [16; tokens] */
  blockSize: { ...RESTART, kind: "integer", min: 16, max: 16, default: 16 },
  /** Size of the key/value cache; numGpuBlocks overrides it. [enough for 16 full contexts, at most 256 MiB; bytes] */
  kvCacheBytes: { ...RESTART, kind: "integer", min: 1, max: MAX_INTEGER },
  /** Size of the key/value cache of all sequences together, in blocks of 16 tokens. [what kvCacheBytes has room for; blocks] */
  numGpuBlocks: { ...RESTART, kind: "integer", min: 1, max: 2 ** 24, label: "Cache size", unit: "blocks" },
  /** Whether requests that begin with the same tokens share full blocks of the cache. [true] */
  enablePrefixCaching: { ...LIVE, kind: "flag", default: true, label: "Prefix cache" },
  /** Steps to submit before the tokens of an earlier step are known, 0 to 4; 0 waits for each step. [2; steps] */
  runAhead: { ...LIVE, kind: "integer", min: 0, max: 4, default: 2, label: "Run-ahead", unit: "steps" },
  /** Drafts likely next tokens and checks them in one step; null disables it. The output stays the same. [null] */
  speculation: { ...ROOM, kind: "speculation", default: null },
  /** Thresholds of the "alert" event. [those of AlertThresholds] */
  alerts: { ...LIVE, kind: "alerts" },
  /** What the engine writes to the console. ["silent"] */
  logLevel: {
    ...LIVE,
    kind: "choice",
    choices: LOG_LEVELS,
    names: { error: "Errors", warn: "Warnings", info: "Information", debug: "Everything" },
    default: "silent",
    label: "Log level",
  },
} as const satisfies Readonly<Record<string, ConfigField>>;

/** Every field is optional. Unknown and out-of-range fields are errors that name the field. */
export interface EngineConfig extends GivenFields<typeof CONFIG_FIELDS> {}

export const DRAFT_FIELDS = {
  /** Most tokens per draft. [4; tokens] */
  num_speculative_tokens: {
    ...ROOM,
    kind: "integer",
    min: 1,
    max: 16,
    default: 4,
    label: "Draft length",
    unit: "tokens",
  },
  /** Number of last tokens that must have occurred earlier. [3; tokens] */
  minMatch: { ...LIVE, kind: "integer", min: 1, max: 8, default: 3, label: "Shortest match", unit: "tokens" },
} as const satisfies Readonly<Record<string, ConfigField>>;

export type SpeculationConfig = NgramSpeculationConfig | DraftModelSpeculationConfig;

/** Drafts the tokens that followed an earlier occurrence of the text's last tokens, in prompt or output. */
export interface NgramSpeculationConfig extends GivenFields<typeof DRAFT_FIELDS> {
  /** Names this way of drafting. */
  method: "ngram";
}

/**
 * A small model drafts for the large one: distilgpt2 for gpt2-xl, Qwen3-0.6B for Qwen3-4B. It must have the same tokens, and
 * it takes memory for its weights and for a cache of as many tokens as the large one's.
 */
export interface DraftModelSpeculationConfig {
  /** Names this way of drafting. */
  method: "draft_model";
  /** As createEngine's `model`. A model of the hub comes from the same hub, with the same token, at its main revision. */
  model: ModelSource;
  /** Most tokens per draft. [4; tokens] */
  num_speculative_tokens?: number;
}

export const ALERT_FIELDS = {
  /** Raised when requests wait although less than this fraction of the slots is in use (0.6: 60%). [0.6; fraction] */
  lowOccupancy: { kind: "number", min: 0, max: 1, default: 0.6, label: "Alert on idle slots, under" },
  /** Raised when more sequences than this wait. [100; sequences] */
  queueLength: {
    kind: "integer",
    min: 0,
    max: MAX_INTEGER,
    default: 100,
    label: "Alert on the queue, over",
    unit: "sequences",
  },
  /**
   * Raised when the 95th percentile of the inter-token latency over the last 100 steps is above this. [targetItlMs, without
   * it four times the adapter's own step time, at least 50; ms]
   */
  itlMs: {
    kind: "number",
    min: 0,
    above: true,
    max: MAX_INTEGER,
    default: "auto",
    label: "Alert on latency, over",
    unit: "ms",
  },
  /** Raised when more than this fraction of the last 100 requests failed or were refused (0.05: 5%). [0.05; fraction] */
  failureRate: { kind: "number", min: 0, max: 1, default: 0.05, label: "Alert on failures, over" },
} as const satisfies Readonly<Record<string, ConfigField>>;

/** An alert is raised when its threshold is crossed, and not again until it has recovered. null disables it. */
export interface AlertThresholds extends GivenFields<typeof ALERT_FIELDS, null> {}

/** AlertThresholds with all defaults filled in. Frozen. */
export interface ResolvedAlertThresholds extends Readonly<Required<Omit<AlertThresholds, "itlMs">>> {
  /** "auto" follows the adapter's own step time. */
  readonly itlMs: number | "auto" | null;
}

/** EngineConfig with all defaults filled in. Frozen. */
export interface ResolvedEngineConfig extends Readonly<Required<Omit<EngineConfig, Replaced>>> {
  readonly speculation:
    | { readonly method: "ngram"; readonly numTokens: number; readonly minMatch: number }
    | { readonly method: "draft_model"; readonly numTokens: number }
    | null;
  /** Infinity = any number. */
  readonly maxQueueSize: number;
  readonly alerts: ResolvedAlertThresholds;
  /** "f32" if no weights are quantised. */
  readonly activationDtype: ActivationDtype;
}
type Replaced = "backend" | "activationDtype" | "kvCacheBytes" | "speculation" | "maxQueueSize" | "alerts";
