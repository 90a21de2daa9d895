import half from "../../../../shaders/lib/half.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import code from "../../../../shaders/probe-halves.wgsl?raw";
import { defineKernel } from "../kernel.ts";

export const probeHalves = defineKernel({
  name: "probe-halves",
  code: [code, half, step],
  bindings: [["flushes", "storage"]],
  constants: ["LANES"],
});
