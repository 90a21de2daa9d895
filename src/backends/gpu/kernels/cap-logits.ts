import code from "../../../../shaders/cap-logits.wgsl?raw";
import cap from "../../../../shaders/lib/cap.wgsl?raw";
import { defineKernel } from "../kernel.ts";

export const capLogits = defineKernel({
  name: "cap-logits",
  code: [code, cap],
  bindings: [["logits", "storage"]],
  constants: ["LANES", "STRIDE", "CAP"],
});
