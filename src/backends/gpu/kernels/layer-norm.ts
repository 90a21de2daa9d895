import code from "../../../../shaders/layer-norm.wgsl?raw";
import norm from "../../../../shaders/lib/norm.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

export const layerNorm = defineKernel({
  name: "layer-norm",
  code: [code, norm, step],
  bindings: [
    ["x", "read-only-storage"],
    ["norm", "read-only-storage"],
    ["samples", "read-only-storage"],
    ["y", "storage"],
  ],
  constants: ["K4", "ADD_TO_OUTPUT", "RMS", "WIDTH", "EPSILON"],
});
