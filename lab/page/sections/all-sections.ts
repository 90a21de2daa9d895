import type { Section } from "../bench-context.ts";
import { activationsSection } from "./activations.ts";
import { arrivalsSection } from "./arrivals.ts";
import { batchSizeSection } from "./batch-size.ts";
import { decodeSection, runAheadSection, samplingSection } from "./decoding.ts";
import { draftsSection } from "./drafts.ts";
import { kernelsSection } from "./kernels.ts";
import { modesSections } from "./modes.ts";
import { prefillSection } from "./prefill.ts";
import { prefixesSection } from "./prefixes.ts";
import { startupSection } from "./startup.ts";
import { submitsSection } from "./submits.ts";

/** In the order they run and are shown. */
export const ALL_SECTIONS: readonly Section[] = [
  startupSection,
  decodeSection,
  runAheadSection,
  samplingSection,
  batchSizeSection,
  ...modesSections,
  prefillSection,
  activationsSection,
  arrivalsSection,
  prefixesSection,
  draftsSection,
  kernelsSection,
  submitsSection,
];
