import type { Section } from "../bench-context.ts";
import { arrivalsSection } from "./arrivals.ts";
import { decodeSection } from "./decode.ts";
import { growthSection } from "./growth.ts";
import { kernelsSection } from "./kernels.ts";
import { modesSection } from "./modes.ts";
import { prefillSection } from "./prefill.ts";
import { prefixesSection } from "./prefixes.ts";
import { startupSection } from "./startup.ts";

/** In the order they run and are shown. */
export const ALL_SECTIONS: readonly Section[] = [
  startupSection,
  decodeSection,
  modesSection,
  prefillSection,
  arrivalsSection,
  prefixesSection,
  kernelsSection,
  growthSection,
];
