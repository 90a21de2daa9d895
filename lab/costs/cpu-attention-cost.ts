// Attention on the CPU, on one thread: the heads of a group together, which share loads of keys and values, beside each head
// in a call of its own. By turns in one run.

import { headBlockBytes, type CacheShape } from "../../src/backends/cpu/kernels/cache-write.ts";
import { assembleKernels, instantiateKernels } from "../../src/backends/cpu/kernels/kernels.ts";
import { MemoryMap } from "../../src/backends/cpu/memory-map.ts";
import { printTable } from "../report/table.ts";
import { fillWithSmallFloats } from "./small-floats.ts";

/** SmolLM2-135M's heads, Qwen3-0.6B's and GPT-2's. */
const SHAPES = [
  { heads: 9, keyHeads: 3, headSize: 64 },
  { heads: 16, keyHeads: 8, headSize: 128 },
  { heads: 12, keyHeads: 12, headSize: 64 },
] as const;
const CONTEXTS = [64, 512, 2048];
const BLOCK_SIZE = 16;
const PAGES = 1024;
const MEASURE_MS = 1000;
/** Operations that are timed at once: they take long beside the clock's steps, and mostly end before others want the core. */
const TIMED_FLOPS = 2 ** 26;

export async function printCpuAttentionCosts(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const shape of SHAPES) {
    for (const dtype of ["f32", "f16"] as const) {
      const attend = await openAttention(shape, dtype);
      for (const context of CONTEXTS) {
        const { heads, keyHeads, headSize } = shape;
        const flops = 4 * heads * headSize * context;
        const works = [() => attend(context, 1), () => attend(context, heads)];
        const [aloneMs = NaN, togetherMs = NaN] = quickestMs(works, Math.ceil(TIMED_FLOPS / flops));
        rows.push([
          `${heads} of ${headSize} on ${keyHeads}`,
          dtype,
          context,
          (1000 * togetherMs).toFixed(1),
          (flops / togetherMs / 1e6).toFixed(1),
          (togetherMs / aloneMs).toFixed(2),
        ]);
      }
    }
  }
  const head = ["heads", "cache", "positions", "us a row", "GFLOP/s", "over head by head"];
  printTable("Attention on one thread, relaxed SIMD: the quickest", head, rows);
}

/** Returns a call that attends with one row to so many positions, some heads at once. */
async function openAttention(
  { heads, keyHeads, headSize }: (typeof SHAPES)[number],
  dtype: CacheShape["dtype"],
): Promise<(context: number, headsACall: number) => void> {
  const cache = { dtype, headSize, blockSize: BLOCK_SIZE };
  const queriesAKey = heads / keyHeads;
  const limits = { isShared: false, pages: PAGES };
  const bytes = assembleKernels({ math: "fastest", dtype: "f32", cache, queriesAKey, memory: limits });
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
  const kernels = await instantiateKernels(await WebAssembly.compile(bytes), memory);
  fillWithSmallFloats(memory.buffer);
  const map = new MemoryMap();
  const blocks = Math.max(...CONTEXTS) / BLOCK_SIZE;
  const blockBytes = keyHeads * headBlockBytes(cache);
  const pitch = 4 * (Math.max(...CONTEXTS) + BLOCK_SIZE);
  const [q, y, scores] = [map.take(4 * heads * headSize), map.take(4 * heads * headSize), map.take(heads * pitch)];
  const [keys, values, table] = [map.take(blocks * blockBytes), map.take(blocks * blockBytes), map.take(4 * blocks)];
  new Uint32Array(memory.buffer, table, blocks).set(Array.from({ length: blocks }, (_, i) => i));
  return (context, headsACall) => {
    for (let head = 0; head < heads; head += headsACall) {
      const offset = 4 * head * headSize;
      const keyHead = Math.floor(head / queriesAKey) * headBlockBytes(cache);
      kernels.attend(
        q + offset,
        y + offset,
        keys + keyHead,
        values + keyHead,
        blockBytes,
        table,
        0,
        context,
        scores,
        pitch,
        headsACall,
        head % queriesAKey,
        1 / Math.sqrt(headSize),
      );
    }
  };
}

/** Of each, by turns. */
function quickestMs(works: readonly (() => void)[], repeats: number): number[] {
  const best = works.map(() => Infinity);
  for (const begin = performance.now(); performance.now() - begin < MEASURE_MS;) {
    works.forEach((work, i) => {
      const before = performance.now();
      for (let repeat = 0; repeat < repeats; repeat++) work();
      best[i] = Math.min(best[i] ?? Infinity, (performance.now() - before) / repeats);
    });
  }
  return best;
}
