import code from "../../../shaders/attention.wgsl?raw";
import quadCode from "../../../shaders/attention-quad.wgsl?raw";
import cache from "../../../shaders/lib/cache.wgsl?raw";
import half from "../../../shaders/lib/half.wgsl?raw";
import keysValues from "../../../shaders/lib/keys-values.wgsl?raw";
import step from "../../../shaders/lib/step.wgsl?raw";
import { defineKernel } from "../kernel.ts";

const bindings = [
  ["qkv", "read-only-storage"],
  ["rows", "read-only-storage"],
  ["block_tables", "read-only-storage"],
  ["key_cache", "storage"],
  ["value_cache", "storage"],
  ["y", "storage"],
] as const;

const constants = [
  "LANES",
  "HEAD_SIZE",
  "QKV_STRIDE",
  "Y_STRIDE",
  "SCALE",
  "HEADS",
  "HEAD_VEC4",
  "BLOCK_SIZE",
  "MAX_BLOCKS",
  "CACHE_F16",
] as const;

/** Writes each row's keys and values to the cache, and attends causally over its sequence's positions up to it. */
export const attention = defineKernel({
  name: "attention",
  code: [code, keysValues, cache, half, step],
  bindings,
  constants: [...constants, "GROUPS"],
});

/** The same with the lanes of quads, for heads of up to QUAD_HEAD_VEC4. */
export const attentionQuad = defineKernel({
  name: "attention-quad",
  code: [quadCode, keysValues, cache, half, step],
  bindings,
  constants,
});

/** Most lanes a workgroup of attention may have everywhere, and so a bound on the head's size: 4 values a lane. */
const MAX_LANES = 256;
export const MAX_HEAD_SIZE = 4 * MAX_LANES;

/** Values of a head, over 4, that the four lanes of a quad hold: four each. */
export const QUAD_HEAD_VEC4 = 16;

/** How a tile's positions are dealt. By the head's size alone, so that the order of additions is one for all rows. */
export function attentionTile(headVec4: number): { readonly GROUPS: number; readonly LANES: number } {
  const GROUPS = Math.max(1, Math.floor(64 / headVec4));
  return { GROUPS, LANES: GROUPS * headVec4 };
}

/** Heads that a workgroup of attention-quad takes, each with four lanes. */
export function quadHeads(heads: number): number {
  return Math.min(8, heads);
}
