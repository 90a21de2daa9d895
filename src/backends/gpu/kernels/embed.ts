import code from "../../../../shaders/embed.wgsl?raw";
import half from "../../../../shaders/lib/half.wgsl?raw";
import layout from "../../../../shaders/lib/layout.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import weights from "../../../../shaders/lib/weights.wgsl?raw";
import { defineKernel } from "../kernel.ts";
import { LAYOUT_CONSTANTS } from "../matrix-layout.ts";

/** Writes token plus position embedding, one row of x per row of the step. */
export const embed = defineKernel({
  name: "embed",
  code: [code, half, layout, step, weights],
  bindings: [
    ["w", "read-only-storage"],
    ["wpe", "read-only-storage"],
    ["rows", "read-only-storage"],
    ["feedback", "read-only-storage"],
    ["x", "storage"],
  ],
  constants: ["LANES", "K4", "N4", "FIRST_TOKEN", "SCALE", "LEARNED_POSITIONS", ...LAYOUT_CONSTANTS],
});
