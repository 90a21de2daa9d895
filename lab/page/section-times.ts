// Estimates how long sections will take: as in the last run with the same options here, else a typical time.

import { SECTIONS, type BenchOptions, type SectionId } from "./bench-options.ts";
import { sumOf } from "../statistics.ts";

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
    const [all, quick] = SECTIONS[id].seconds;
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
