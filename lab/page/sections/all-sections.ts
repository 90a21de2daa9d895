import type { Section } from "../bench-context.ts";
import type { SectionId } from "../bench-options.ts";
import { arrivalsSection } from "./arrivals.ts";
import { batchSizeSection } from "./batch-size.ts";
import { decodeSection, runAheadSection, samplingSection } from "./decoding.ts";
import { draftsSection } from "./drafts.ts";
import { kernelsSection } from "./kernels.ts";
import { modesSection } from "./modes.ts";
import { prefillSection } from "./prefill.ts";
import { prefixesSection } from "./prefixes.ts";
import { startupSection } from "./startup.ts";

export const ALL_SECTIONS: Readonly<Record<SectionId, Section>> = {
  startup: startupSection,
  decode: decodeSection,
  "run-ahead": runAheadSection,
  sampling: samplingSection,
  "batch-size": batchSizeSection,
  modes: modesSection("within a tenth of the length asked for", [0.9, 1.1]),
  "modes-mixed": modesSection("between a tenth of the length asked for and twice of it", [0.1, 2]),
  prefill: prefillSection,
  arrivals: arrivalsSection,
  prefixes: prefixesSection,
  drafts: draftsSection,
  kernels: kernelsSection,
};
