// The parts of a run on a GPU, and the result of parts that check.

import type { BenchContext } from "../page/bench-context.ts";
import type { SectionId } from "../page/bench-options.ts";
import type { SectionFindings } from "../report/bench-result.ts";
import { WRONG } from "./home.ts";

export const PART_IDS = [
  "known-answers",
  "products",
  "exactness",
  "kernels",
  "decode",
  "run-ahead",
  "prefill",
  "sampling",
  "decode-long",
  "startup",
] as const;

export interface Part {
  readonly id: SectionId | (typeof PART_IDS)[number];
  readonly title: string;
  readonly about: string;
  /** Share of the time, relative to the others' shares. */
  readonly share: number;
  /** Whether it needs the loaded model, as all but the first of its parts do. */
  readonly needsModel: boolean;
  readonly run: (context: BenchContext) => Promise<SectionFindings>;
}

export interface Check {
  readonly what: string;
  readonly isRight: boolean;
  readonly detail: string;
}

/** @param label says of what the headline has "3 of 3" */
export function checksResult(checks: readonly Check[], label: string): SectionFindings {
  const numRight = checks.filter(({ isRight }) => isRight).length;
  return {
    headlines: [[`${numRight} of ${checks.length}`, label]],
    tables: [
      {
        title: "Checks",
        columns: ["What", "verdict", "seen"],
        rows: checks.map(({ what, isRight, detail }) => [what, isRight ? "right" : WRONG, detail]),
      },
    ],
  };
}
