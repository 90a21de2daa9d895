import { BACKEND_CHOICES, type BackendChoice, type FloatsDtype } from "../../src/protocol/config.ts";

/**
 * The sections, in the order in which they run and are shown. Their seconds, of a run with all points and of a quick one: the embedded
 * model on Chromium's software adapter, on two CPU cores. The time of a comparison is bounded, so a slower machine takes hardly longer. A
 * faster one is done sooner. Those of batch-size, modes-mixed, arrivals and drafts are calculated from their work, and so are the
 * quick ones.
 */
export const SECTIONS = {
  startup: { title: "Start-up", seconds: [15, 10] },
  decode: { title: "Decode", seconds: [80, 10] },
  "run-ahead": { title: "Running ahead", seconds: [80, 20] },
  sampling: { title: "Sampling", seconds: [80, 20] },
  "batch-size": { title: "Batch size", seconds: [600, 120] },
  modes: { title: "Batching modes", seconds: [250, 10] },
  "modes-mixed": { title: "Modes, mixed lengths", seconds: [250, 10] },
  prefill: { title: "Prefill", seconds: [20, 5] },
  arrivals: { title: "Arrivals", seconds: [180, 60] },
  prefixes: { title: "Shared prefixes", seconds: [75, 10] },
  drafts: { title: "Drafts", seconds: [150, 40] },
  kernels: { title: "Kernels", seconds: [20, 10] },
} as const;
export type SectionId = keyof typeof SECTIONS;
export const SECTION_IDS = Object.keys(SECTIONS) as SectionId[];

export function secondsOf(id: SectionId, { quick }: Pick<BenchOptions, "quick">): number {
  return SECTIONS[id].seconds[quick ? 1 : 0];
}

/** Formats a duration, rounded as an estimate: "12 min", "40 s". */
export function formatDuration(seconds: number): string {
  if (seconds < 55) return `${Math.max(5, 5 * Math.round(seconds / 5))} s`;
  return `${Math.round(seconds / 60)} min`;
}

/** The options that are counts, as the form shows them: their defaults, and those of a quick run. */
export const COUNTS = {
  repeats: { label: "Repeats", all: 5, quick: 3 },
  promptTokens: { label: "Prompt tokens", all: 32, quick: 16 },
  outputTokens: { label: "New tokens", all: 32, quick: 8 },
} as const;
export type CountName = keyof typeof COUNTS;
export const COUNT_NAMES = Object.keys(COUNTS) as CountName[];

export const SEQUENCE_COUNTS = [1, 2, 4, 8, 16, 32, 64] as const;
const QUICK_SEQUENCES = [1, 4, 8];
export const WEIGHTS_DTYPES: readonly FloatsDtype[] = ["f32", "f16", "q8", "q4"];
export const EMBEDDED = "embedded";

/** With `repeats`: runs per case, whose median the figures are. */
export interface BenchOptions extends Readonly<Record<CountName, number>> {
  readonly sections: readonly SectionId[];
  /** "embedded", a size with random weights ("tiny", "small", "gpt2"...), or a folder's URL. */
  readonly model: string;
  /** The model that drafts for it, named in the same way; null: the model drafts for itself. */
  readonly draft: string | null;
  /** null: the app's last choice, or the machine's default. */
  readonly backend: BackendChoice | null;
  /** null: the adapter's default. */
  readonly dtype: FloatsDtype | null;
  /** Numbers of sequences that run at once. */
  readonly sequences: readonly number[];
  readonly seed: number;
  /** Fewer points: a look at everything in some minutes, also on a software adapter. */
  readonly quick: boolean;
}

/** Reads an address: `quick&model=small&sections=decode,modes&sequences=1,8`. Invalid values are ignored. */
export function readBenchOptions(params: URLSearchParams): BenchOptions {
  const quick = params.has("quick");
  const sections = SECTION_IDS.filter((id) => params.get("sections")?.split(",").includes(id));
  const sequences = (params.get("sequences") ?? "").split(",").map(Number).filter(isCount);
  const backend = params.get("backend");
  const dtype = params.get("dtype");
  const counts = COUNT_NAMES.map((name) => {
    const value = Number(params.get(name));
    return [name, isCount(value) ? value : COUNTS[name][quick ? "quick" : "all"]] as const;
  });
  return {
    sections: sections.length > 0 ? sections : SECTION_IDS,
    model: params.get("model") || EMBEDDED,
    draft: params.get("draft") || null,
    backend: BACKEND_CHOICES.find((known) => known === backend) ?? null,
    dtype: WEIGHTS_DTYPES.find((known) => known === dtype) ?? null,
    sequences: sequences.length > 0 ? sequences.toSorted((a, b) => a - b) : quick ? QUICK_SEQUENCES : SEQUENCE_COUNTS,
    ...(Object.fromEntries(counts) as Record<CountName, number>),
    seed: Number(params.get("seed")) || 0,
    quick,
  };
}

/** About how long `measureOptions` take. */
export const MEASURE_SECONDS = 20;

/** Returns the options for one number: how much faster sixteen at once are than one. The rest is as in `options`. */
export function measureOptions(options: BenchOptions): BenchOptions {
  const counts = { repeats: 20, promptTokens: 16, outputTokens: 64 };
  return { ...options, ...counts, sections: ["decode"], sequences: [1, 16], quick: true };
}

/** Returns the numbers of sequences up to the most that a section runs at once; that one if all are larger. */
export function sequencesUpTo(most: number, { sequences }: BenchOptions): readonly number[] {
  const few = sequences.filter((count) => count <= most);
  return few.length > 0 ? few : [most];
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}
