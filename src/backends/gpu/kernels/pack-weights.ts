import half from "../../../../shaders/lib/half.wgsl?raw";
import code from "../../../../shaders/pack-weights.wgsl?raw";
import type { TensorDtype } from "../../../files/tensor.ts";
import { defineKernel } from "../kernel.ts";

/** How the shader calls the types of a file's tensors. */
export const tensorDtypeCode: Readonly<Record<TensorDtype, number>> = { F32: 0, F16: 1, BF16: 2 };

/** A band of a matrix in its file's layout, into the layout of the matmul kernels. */
export const packWeights = defineKernel({
  name: "pack-weights",
  code: [code, half],
  bindings: [
    ["source", "read-only-storage"],
    ["packed", "storage"],
    ["band", "uniform"],
  ],
  constants: ["LANES", "SOURCE_DTYPE", "WEIGHTS_DTYPE", "TRANSPOSED"],
});
