import code from "../../../shaders/layer-norm.wgsl?raw";
import step from "../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

export const layerNorm = defineKernel({
  name: "layer-norm",
  code: [code, step],
  bindings: [
    ["x", "read-only-storage"],
    ["gamma", "read-only-storage"],
    ["beta", "read-only-storage"],
    ["samples", "read-only-storage"],
    ["y", "storage"],
  ],
  constants: ["LANES", "WIDTH", "STRIDE", "EPSILON", "SAMPLES_ONLY"],
});
