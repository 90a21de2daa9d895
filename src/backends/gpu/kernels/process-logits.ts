import code from "../../../../shaders/process-logits.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Applies a request's rules (penalties, biases, forbidden and allowed tokens, a grammar) to its logits. */
export const processLogits = defineKernel({
  name: "process-logits",
  code: [code, step],
  bindings: [
    ["logits", "read-only-storage"],
    ["samples", "read-only-storage"],
    ["history", "read-only-storage"],
    ["rules", "read-only-storage"],
    ["masks", "read-only-storage"],
    ["counts", "storage"],
    ["processed", "storage"],
  ],
  constants: ["LANES", "VOCABULARY", "STRIDE", "MAX_LENGTH", "RULE_WORDS"],
});
