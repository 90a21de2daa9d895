import code from "../../../../shaders/top-logprobs.wgsl?raw";
import best from "../../../../shaders/lib/best.wgsl?raw";
import logitPart from "../../../../shaders/lib/logit-part.wgsl?raw";
import overLanes from "../../../../shaders/lib/over-lanes.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Finds the most likely tokens of the samples that request them. */
export const topLogprobs = defineKernel({
  name: "top-logprobs",
  code: [code, best, logitPart, overLanes, step],
  bindings: [
    ["logits", "read-only-storage"],
    ["processed", "read-only-storage"],
    ["samples", "read-only-storage"],
    ["logit_parts", "read-only-storage"],
    ["top", "storage"],
  ],
  constants: ["LANES", "VOCABULARY", "STRIDE", "MAX_TOP", "PROCESSED_LOGPROBS"],
});
