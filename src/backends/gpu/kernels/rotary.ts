import code from "../../../../shaders/rotary.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Rotates queries and keys by their positions, in place, and normalises them where they have norms. */
export const rotary = defineKernel({
  name: "rotary",
  code: [code, step],
  bindings: [
    ["angles", "read-only-storage"],
    ["query_norm", "read-only-storage"],
    ["key_norm", "read-only-storage"],
    ["rows", "read-only-storage"],
    ["qkv", "storage"],
  ],
  constants: [
    "LANES",
    "HEADS",
    "KV_HEADS",
    "HEAD_SIZE",
    "QKV_STRIDE",
    "QUERY_ANGLES",
    "NORMED",
    "OVER_WIDTH",
    "AFTER_ROTATION",
    "EPSILON",
  ],
});
