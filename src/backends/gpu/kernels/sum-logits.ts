import best from "../../../../shaders/lib/best.wgsl?raw";
import logitPart from "../../../../shaders/lib/logit-part.wgsl?raw";
import random from "../../../../shaders/lib/random.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import code from "../../../../shaders/sum-logits.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Sums up each 32 logits for the sampler, and begins the draw: on GPUs the head does so. */
export const sumLogits = defineKernel({
  name: "sum-logits",
  code: [code, best, logitPart, random, step],
  bindings: [
    ["logits", "read-only-storage"],
    ["samples", "read-only-storage"],
    ["logit_parts", "storage"],
  ],
  constants: ["LANES", "VOCABULARY", "STRIDE"],
});
