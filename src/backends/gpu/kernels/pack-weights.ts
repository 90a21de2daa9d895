import half from "../../../../shaders/lib/half.wgsl?raw";
import layout from "../../../../shaders/lib/layout.wgsl?raw";
import code from "../../../../shaders/pack-weights.wgsl?raw";
import type { TensorDtype } from "../../../files/tensor.ts";
import { defineKernel } from "../kernel.ts";
import { LAYOUT_CONSTANTS } from "../matrix-layout.ts";

/** The shader's codes for the types of a file's tensors that are not packed. */
export const tensorDtypeCode: Readonly<Record<TensorDtype, number>> = { F32: 0, F16: 1, BF16: 2 };

/** Packs a band of a matrix from its file's layout into the matmul kernels' layout. */
export const packWeights = defineKernel({
  name: "pack-weights",
  code: [code, half, layout],
  bindings: [
    ["source", "read-only-storage"],
    ["packed", "storage"],
    ["band", "uniform"],
  ],
  constants: ["LANES", "SOURCE", ...LAYOUT_CONSTANTS],
});
