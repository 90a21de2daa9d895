// Estimates how long sections will take: as in the last run with the same options here, else a typical time.

import type { BenchOptions, SectionId } from "./bench-options.ts";
import { sumOf } from "../statistics.ts";

/**
 * Seconds of a run with all points and of a quick one: the embedded model on Chromium's software adapter, on two CPU cores. The
 * time of a comparison is bounded, so a slower machine takes hardly longer. A faster one is done sooner. Those of batch-size,
 * modes-mixed, static-window and drafts are calculated from their work, and so are the quick ones.
 */
const USUAL_SECONDS: Readonly<Record<SectionId, readonly [all: number, quick: number]>> = {
  startup: [15, 10],
  kernels: [20, 10],
  submits: [10, 5],
  decode: [80, 10],
  "run-ahead": [80, 20],
  sampling: [80, 20],
  prefill: [20, 5],
  "batch-size": [600, 120],
  modes: [250, 10],
  "modes-mixed": [250, 10],
  "static-window": [120, 40],
  arrivals: [65, 20],
  prefixes: [75, 10],
  drafts: [150, 40],
  growth: [100, 30],
};

/** Where times are kept between visits. */
interface TimesHome {
  readonly read: () => string | null;
  readonly write: (text: string) => void;
}

type Seconds = Partial<Record<string, number>>;

export class SectionTimes {
  readonly #home: TimesHome;
  /** Seconds of sections, by all other options. */
  readonly #kept: Record<string, Seconds>;

  constructor(home: TimesHome) {
    this.#home = home;
    this.#kept = keptTimes(home);
  }

  /** Whether all chosen sections ran with these options here before. */
  areKnown(options: BenchOptions): boolean {
    return options.sections.every((id) => this.#kept[keyOf(options)]?.[id] !== undefined);
  }

  secondsOf(id: SectionId, options: BenchOptions): number {
    const [all, quick] = USUAL_SECONDS[id];
    return this.#kept[keyOf(options)]?.[id] ?? (options.quick ? quick : all);
  }

  /** Returns the seconds of all chosen sections. */
  secondsFor(options: BenchOptions): number {
    return sumOf(options.sections.map((id) => this.secondsOf(id, options)));
  }

  remember(options: BenchOptions, sections: readonly { readonly id: string; readonly seconds: number }[]): void {
    const key = keyOf(options);
    const seconds = Object.fromEntries(sections.map((section) => [section.id, section.seconds]));
    this.#kept[key] = { ...this.#kept[key], ...seconds };
    this.#home.write(JSON.stringify(this.#kept));
  }
}

function keyOf(options: BenchOptions): string {
  return JSON.stringify({ ...options, sections: null, seed: null });
}

function keptTimes({ read }: TimesHome): Record<string, Seconds> {
  try {
    const kept: unknown = JSON.parse(read() ?? "{}");
    return typeof kept === "object" && kept !== null ? (kept as Record<string, Seconds>) : {};
  } catch {
    return {};
  }
}

/** Formats a duration, rounded as an estimate: "12 min", "40 s". */
export function formatDuration(seconds: number): string {
  if (seconds < 55) return `${Math.max(5, 5 * Math.round(seconds / 5))} s`;
  return `${Math.round(seconds / 60)} min`;
}
