import code from "../../../shaders/attention.wgsl?raw";
import cache from "../../../shaders/lib/cache.wgsl?raw";
import step from "../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Causal attention of every row over its sequence's cached positions. */
export const attention = defineKernel({
  name: "attention",
  code: [code, cache, step],
  bindings: [
    ["qkv", "read-only-storage"],
    ["rows", "read-only-storage"],
    ["block_tables", "read-only-storage"],
    ["key_cache", "read-only-storage"],
    ["value_cache", "read-only-storage"],
    ["y", "storage"],
  ],
  constants: [
    "LANES",
    "GROUPS",
    "HEAD_SIZE",
    "QKV_STRIDE",
    "Y_STRIDE",
    "SCALE",
    "HEADS",
    "HEAD_VEC4",
    "BLOCK_SIZE",
    "MAX_BLOCKS",
    "CACHE_F16",
  ],
});

/** Most lanes a workgroup of attention may have everywhere, and so a bound on the head's size: 4 values a lane. */
const MAX_LANES = 256;
export const MAX_HEAD_SIZE = 4 * MAX_LANES;

/** Positions a tile holds. By the head's size alone, so that the order of additions is the same for every row. */
export function attentionLanes(headVec4: number): number {
  return Math.max(64, headVec4);
}
