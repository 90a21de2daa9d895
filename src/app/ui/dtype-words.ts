import type { WeightsDtype } from "../../index.ts";

export const DTYPE_WORDS: Readonly<Record<WeightsDtype, string>> = {
  stored: "As in the file",
  f32: "Full (f32)",
  f16: "Half (f16)",
  q8: "Small (q8)",
  q4: "Smallest (q4)",
};
