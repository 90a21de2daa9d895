import type { NamedSection } from "../page/bench-context.ts";
import type { SectionFindings } from "../report/bench-result.ts";
import { WRONG } from "./home.ts";

/** The parts, and each one's share of the time, relative to the others' shares. */
export const PART_SHARES = {
  "known-answers": 8,
  products: 10,
  exactness: 8,
  kernels: 12,
  decode: 12,
  "run-ahead": 9,
  prefill: 6,
  sampling: 9,
  "decode-long": 9,
  startup: 6,
} as const;
type PartId = keyof typeof PART_SHARES;

export interface Part extends NamedSection {
  readonly id: PartId;
  /** Whether it needs the loaded model, as all but the first of its parts do. */
  readonly needsModel: boolean;
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
