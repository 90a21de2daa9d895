import code from "../../../../shaders/quantise-rows.wgsl?raw";
import { defineKernel } from "../kernel.ts";

export const quantiseRows = defineKernel({
  name: "quantise-rows",
  code: [code],
  bindings: [
    ["x", "read-only-storage"],
    ["y", "storage"],
  ],
  constants: ["K4", "LANES"],
});
