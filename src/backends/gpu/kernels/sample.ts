import code from "../../../../shaders/sample.wgsl?raw";
import best from "../../../../shaders/lib/best.wgsl?raw";
import filters from "../../../../shaders/lib/filters.wgsl?raw";
import logitPart from "../../../../shaders/lib/logit-part.wgsl?raw";
import random from "../../../../shaders/lib/random.wgsl?raw";
import overLanes from "../../../../shaders/lib/over-lanes.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Bins of a filter's histogram: see shaders/lib/filters.wgsl. */
export const BINS = 256;

/** Draws under rules and filters: one token per sample, written to where the next step's embedding reads it. */
export const sample = defineKernel({
  name: "sample",
  code: [code, best, filters, logitPart, overLanes, random, step],
  bindings: [
    ["logits", "read-only-storage"],
    ["processed", "storage"],
    ["samples", "read-only-storage"],
    ["logit_parts", "read-only-storage"],
    ["feedback", "storage"],
    ["history", "storage"],
    ["sampled", "storage"],
    ["bins", "storage"],
  ],
  constants: ["LANES", "VOCABULARY", "STRIDE", "MAX_LENGTH", "PROCESSED_LOGPROBS", "HISTOGRAM_IN_BUFFER"],
});
