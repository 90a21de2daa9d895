import { BACKEND_CHOICES, type BackendChoice, type WeightsDtype } from "../../src/protocol/config.ts";

export const SECTION_IDS = [
  "startup",
  "kernels",
  "submits",
  "decode",
  "run-ahead",
  "sampling",
  "prefill",
  "batch-size",
  "modes",
  "modes-mixed",
  "static-window",
  "arrivals",
  "prefixes",
  "drafts",
  "growth",
] as const;
export type SectionId = (typeof SECTION_IDS)[number];

export const SEQUENCE_COUNTS = [1, 2, 4, 8, 16, 32, 64] as const;
export const WEIGHTS_DTYPES: readonly WeightsDtype[] = ["f32", "f16", "q8", "q4"];
export const EMBEDDED = "embedded";

export interface BenchOptions {
  readonly sections: readonly SectionId[];
  /** "embedded", a size with random weights ("tiny", "small", "gpt2"...), or a folder's URL. */
  readonly model: string;
  /** The model that drafts for it, named in the same way; null: the model drafts for itself. */
  readonly draft: string | null;
  /** null: the app's last choice, or the machine's default. */
  readonly backend: BackendChoice | null;
  /** null: the adapter's default. */
  readonly dtype: WeightsDtype | null;
  /** Numbers of sequences that run at once. */
  readonly sequences: readonly number[];
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Runs per case; the figures are their median. */
  readonly repeats: number;
  readonly seed: number;
  /** Fewer points: a look at everything in some minutes, also on a software adapter. */
  readonly quick: boolean;
}

const DEFAULTS: BenchOptions = {
  sections: SECTION_IDS,
  model: EMBEDDED,
  draft: null,
  backend: null,
  dtype: null,
  sequences: SEQUENCE_COUNTS,
  promptTokens: 32,
  outputTokens: 32,
  repeats: 5,
  seed: 0,
  quick: false,
};

const QUICK: Partial<BenchOptions> = {
  sequences: [1, 4, 8],
  promptTokens: 16,
  outputTokens: 8,
  repeats: 3,
  quick: true,
};

/**
 * Reads the options from an address: `quick&model=small&sections=decode,modes&sequences=1,8`. Invalid values are
 * ignored.
 */
export function readBenchOptions(params: URLSearchParams): BenchOptions {
  const base = params.has("quick") ? { ...DEFAULTS, ...QUICK } : DEFAULTS;
  const sections = SECTION_IDS.filter((id) => params.get("sections")?.split(",").includes(id));
  const sequences = (params.get("sequences") ?? "").split(",").map(Number).filter(isCount);
  const backend = params.get("backend");
  const dtype = params.get("dtype");
  const count = (name: "promptTokens" | "outputTokens" | "repeats") => {
    const value = Number(params.get(name));
    return isCount(value) ? value : base[name];
  };
  return {
    ...base,
    sections: sections.length > 0 ? sections : base.sections,
    model: params.get("model") || base.model,
    draft: params.get("draft") || base.draft,
    backend: BACKEND_CHOICES.find((known) => known === backend) ?? base.backend,
    dtype: WEIGHTS_DTYPES.find((known) => known === dtype) ?? base.dtype,
    sequences: sequences.length > 0 ? sequences.toSorted((a, b) => a - b) : base.sequences,
    promptTokens: count("promptTokens"),
    outputTokens: count("outputTokens"),
    repeats: count("repeats"),
    seed: Number(params.get("seed")) || base.seed,
  };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}
