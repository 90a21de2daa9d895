import code from "../../../../shaders/sample-plain.wgsl?raw";
import logitPart from "../../../../shaders/lib/logit-part.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Draws, or scores a prompt's token, without rules and filters: one token per sample. Its bits are those of `sample`. */
export const samplePlain = defineKernel({
  name: "sample-plain",
  code: [code, logitPart, step],
  bindings: [
    ["logits", "read-only-storage"],
    ["samples", "read-only-storage"],
    ["logit_parts", "read-only-storage"],
    ["feedback", "storage"],
    ["history", "storage"],
    ["sampled", "storage"],
  ],
  constants: ["LANES", "VOCABULARY", "STRIDE", "MAX_LENGTH"],
});
