import activation from "../../../../shaders/lib/activation.wgsl?raw";
import best from "../../../../shaders/lib/best.wgsl?raw";
import epilogue from "../../../../shaders/lib/epilogue.wgsl?raw";
import fusedProduct from "../../../../shaders/lib/fused-product.wgsl?raw";
import half from "../../../../shaders/lib/half.wgsl?raw";
import head from "../../../../shaders/lib/head.wgsl?raw";
import layout from "../../../../shaders/lib/layout.wgsl?raw";
import logitPart from "../../../../shaders/lib/logit-part.wgsl?raw";
import packedDot from "../../../../shaders/lib/packed-dot.wgsl?raw";
import plainDot from "../../../../shaders/lib/plain-dot.wgsl?raw";
import norm from "../../../../shaders/lib/norm.wgsl?raw";
import plainProduct from "../../../../shaders/lib/plain-product.wgsl?raw";
import random from "../../../../shaders/lib/random.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import weights from "../../../../shaders/lib/weights.wgsl?raw";
import anyCode from "../../../../shaders/matmul-any.wgsl?raw";
import integerCode from "../../../../shaders/matmul-integer.wgsl?raw";
import laneCode from "../../../../shaders/matmul-lane.wgsl?raw";
import rowCode from "../../../../shaders/matmul-row.wgsl?raw";
import skinnyCode from "../../../../shaders/matmul-skinny.wgsl?raw";
import subgroupCode from "../../../../shaders/matmul-subgroup.wgsl?raw";
import tiledCode from "../../../../shaders/matmul-tiled.wgsl?raw";
import { defineKernel } from "../kernel.ts";
import { LAYOUT_CONSTANTS } from "../matrix-layout.ts";

/** The work after a product. The numbers are those of lib/epilogue.wgsl. */
export const Epilogue = {
  biasOnly: 0,
  geluTanh: 1,
  geluErf: 2,
  addToOutput: 3,
  head: 4,
  silu: 5,
  relu2: 6,
  gegluTanh: 7,
  gegluErf: 8,
  swiglu: 9,
  reglu2: 10,
} as const;

const bindings = [
  ["x", "read-only-storage"],
  ["w", "read-only-storage"],
  ["bias", "read-only-storage"],
  ["y", "storage"],
  ["step", "uniform"],
] as const;

/** Bindings of the kernels for GPUs, which can normalise their input and summarise a head's logits. */
const gpuBindings = [
  ["x", "read-only-storage"],
  ["w", "read-only-storage"],
  ["bias", "read-only-storage"],
  ["norm", "read-only-storage"],
  ["samples", "read-only-storage"],
  ["y", "storage"],
  ["logit_parts", "storage"],
  ["step", "uniform"],
] as const;

const constants = ["K4", "N4", "Y4", "SAMPLES_ONLY", "EPILOGUE", ...LAYOUT_CONSTANTS] as const;
const gpuConstants = [...constants, "NORM", "RMS", "WIDTH", "EPSILON", "VOCABULARY", "FIRST_TOKEN"] as const;
const library = [activation, epilogue, half, layout, step, weights];
const plainLibrary = [plainProduct, ...library];
const gpuLibrary = [best, fusedProduct, head, logitPart, norm, random, ...library];

/** One of six kernels of floats with one contract and the same bits. matmul-variants.ts says which is used when. */
export const matmulLane = defineKernel({
  name: "matmul-lane",
  code: [laneCode, ...plainLibrary],
  bindings,
  constants: [...constants, "LANES"],
});

export const matmulRow = defineKernel({
  name: "matmul-row",
  code: [rowCode, ...plainLibrary],
  bindings,
  constants: [...constants, "LANES"],
});

export const matmulSubgroup = defineKernel({
  name: "matmul-subgroup",
  code: [subgroupCode, ...plainLibrary],
  bindings,
  constants: [...constants, "LANES"],
});

export const matmulAny = defineKernel({
  name: "matmul-any",
  code: [anyCode, ...library],
  bindings: [...bindings, ["product", "uniform"]],
  constants: [...LAYOUT_CONSTANTS, "LANES"],
});

export const matmulSkinny = defineKernel({
  name: "matmul-skinny",
  code: [skinnyCode, ...gpuLibrary],
  bindings: gpuBindings,
  constants: [...gpuConstants, "COLUMNS", "SPLITS", "ROWS"],
});

export const matmulTiled = defineKernel({
  name: "matmul-tiled",
  code: [tiledCode, ...gpuLibrary],
  bindings: gpuBindings,
  constants: [...gpuConstants, "COLUMN_LANES", "ROW_LANES", "ROWS", "VECS"],
});

const integers = {
  name: "matmul-integer",
  bindings,
  constants: [...constants, "COLUMNS", "SPLITS", "ROWS"],
} as const;

/** Multiplies integers. For compilers with the language feature packed_4x8_integer_dot_product, and for any. */
export const matmulInteger = defineKernel({ ...integers, code: [integerCode, ...plainLibrary, plainDot] });
export const matmulIntegerPacked = defineKernel({ ...integers, code: [integerCode, ...plainLibrary, packedDot] });
