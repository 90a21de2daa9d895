import code from "../../../../shaders/rotary.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Rotates queries and keys by their positions, in place. */
export const rotary = defineKernel({
  name: "rotary",
  code: [code, step],
  bindings: [
    ["angles", "read-only-storage"],
    ["rows", "read-only-storage"],
    ["qkv", "storage"],
  ],
  constants: ["LANES", "HEADS", "KV_HEADS", "HEAD_SIZE", "QKV_STRIDE"],
});
