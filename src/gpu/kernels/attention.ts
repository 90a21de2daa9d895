import code from "../../../shaders/attention.wgsl?raw";
import cache from "../../../shaders/lib/cache.wgsl?raw";
import step from "../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Writes each row's keys and values to the cache, and attends causally over its sequence's positions up to it. */
export const attention = defineKernel({
  name: "attention",
  code: [code, cache, step],
  bindings: [
    ["qkv", "read-only-storage"],
    ["rows", "read-only-storage"],
    ["block_tables", "read-only-storage"],
    ["key_cache", "storage"],
    ["value_cache", "storage"],
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

/** How a tile's positions are dealt. By the head's size alone, so that the order of additions is one for all rows. */
export function attentionTile(headVec4: number): { readonly GROUPS: number; readonly LANES: number } {
  const GROUPS = Math.max(1, Math.floor(64 / headVec4));
  return { GROUPS, LANES: GROUPS * headVec4 };
}
