import code from "../../../shaders/cache-write.wgsl?raw";
import cache from "../../../shaders/lib/cache.wgsl?raw";
import step from "../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

/** Puts each row's keys and values where its sequence's block table says. */
export const cacheWrite = defineKernel({
  name: "cache-write",
  code: [code, cache, step],
  bindings: [
    ["qkv", "read-only-storage"],
    ["rows", "read-only-storage"],
    ["block_tables", "read-only-storage"],
    ["key_cache", "storage"],
    ["value_cache", "storage"],
  ],
  constants: ["LANES", "HEAD_SIZE", "QKV_STRIDE", "HEADS", "HEAD_VEC4", "BLOCK_SIZE", "MAX_BLOCKS", "CACHE_F16"],
});
