import convRows from "../../../../shaders/lib/conv-rows.wgsl?raw";
import keepCode from "../../../../shaders/keep-conv-rows.wgsl?raw";
import code from "../../../../shaders/short-conv.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

const KEPT = ["KEPT_STRIDE", "KEPT_ROWS", "BLOCK_SIZE", "MAX_BLOCKS"] as const;

/** A gated convolution over a sequence's last rows. */
export const shortConv = defineKernel({
  name: "short-conv",
  code: [code, convRows, step],
  bindings: [
    ["x", "read-only-storage"],
    ["weights", "read-only-storage"],
    ["kept", "read-only-storage"],
    ["rows", "read-only-storage"],
    ["block_tables", "read-only-storage"],
    ["y", "storage"],
    ["step", "uniform"],
  ],
  constants: ["LANES", "WIDTH", "TAPS", "X_STRIDE", "Y_STRIDE", ...KEPT],
});

/** Keeps the rows that convolutions of later steps read. */
export const keepConvRows = defineKernel({
  name: "keep-conv-rows",
  code: [keepCode, convRows, step],
  bindings: [
    ["x", "read-only-storage"],
    ["rows", "read-only-storage"],
    ["block_tables", "read-only-storage"],
    ["kept", "storage"],
    ["step", "uniform"],
  ],
  constants: ["LANES", "WIDTH", "X_STRIDE", ...KEPT],
});
