// Times attention of single rows over short and long contexts (prompts.gpu.bench.ts has tiles of rows): one workgroup per
// row and heads that share keys, in merged splits, and in quads of lanes; where heads share keys, also with each head by
// itself.

import { it } from "vitest";

import { printTable } from "../report/table.ts";
import { medianOf } from "../statistics.ts";
import { makeBuffer } from "./make-buffer.ts";
import { openTestDevice } from "../../tests/gpu/gpu.ts";
import { KernelCompiler } from "../../src/backends/gpu/kernel.ts";
import {
  attention,
  attentionMerge,
  attentionQuad,
  attentionTile,
  cacheWrite,
  maxSplits,
  quadShares,
  type QuadShares,
  sharedQueries,
  UNLIMITED_WINDOW,
} from "../../src/backends/gpu/kernels/attention.ts";

const { device, hasSubgroups } = await openTestDevice();
const compiler = new KernelCompiler(device);
const [HEAD_SIZE, BLOCK_SIZE, MAX_LENGTH] = [64, 16, 2048];
/** GPT-2's heads, SmolLM2-135M's and Qwen2.5-0.5B's. */
const SHAPES = [
  { HEADS: 12, KV_HEADS: 12 },
  { HEADS: 9, KV_HEADS: 3 },
  { HEADS: 14, KV_HEADS: 2 },
] as const;
const HEAD_VEC4 = HEAD_SIZE / 4;
const CONTEXTS = [64, 512, 2048];
const ROWS = [1, 8];
const MERGE_LANES = 64;
const WRITE_LANES = 64;
const ROUNDS = 7;

type Work = readonly (readonly [GPUComputePipeline, GPUBindGroup, readonly [number, number, number?]])[];

it.each(SHAPES)("attention of $HEADS heads, $KV_HEADS of keys and values", async ({ HEADS, KV_HEADS }) => {
  const WIDTH = HEADS * HEAD_SIZE;
  const QKV_STRIDE = (HEADS + 2 * KV_HEADS) * HEAD_SIZE;
  const QUERIES = sharedQueries(HEADS, KV_HEADS, HEAD_VEC4);
  const mostRows = Math.max(...ROWS);
  const maxBlocks = MAX_LENGTH / BLOCK_SIZE;
  const { SPLIT, ...tile } = attentionTile(HEAD_VEC4);
  const splits = { SPLIT, MAX_SPLITS: maxSplits(HEAD_VEC4, MAX_LENGTH) };
  const shared = {
    qkv: buffer(4 * mostRows * QKV_STRIDE),
    block_tables: buffer(4 * mostRows * maxBlocks),
    key_cache: buffer(2 * mostRows * MAX_LENGTH * KV_HEADS * HEAD_SIZE),
    value_cache: buffer(2 * mostRows * MAX_LENGTH * KV_HEADS * HEAD_SIZE),
    y: buffer(4 * mostRows * WIDTH),
  };
  const step = { spans: buffer(8 * mostRows), step: buffer(16) };
  const single = Array.from({ length: mostRows }, (_, row) => [row, 1]);
  device.queue.writeBuffer(step.spans, 0, Uint32Array.from(single.flat()));
  const parts = buffer(4 * mostRows * HEADS * splits.MAX_SPLITS * (HEAD_SIZE + 4));
  const blocks = Uint32Array.from({ length: mostRows * maxBlocks }, (_, i) => i);
  device.queue.writeBuffer(shared.block_tables, 0, blocks);
  const cache = {
    HEADS,
    KV_HEADS,
    HEAD_VEC4,
    BLOCK_SIZE,
    MAX_BLOCKS: maxBlocks,
    CACHE_F16: true,
    HEAD_SIZE,
    QKV_STRIDE,
  };
  const WINDOW = UNLIMITED_WINDOW;
  const constants = { ...cache, Y_STRIDE: WIDTH, SCALE: 1 / 8, WINDOW, ROWS: 1 };
  const [alone, unshared, inSplits, merge] = await Promise.all([
    compiler.pipeline(attention, { ...constants, ...tile, ...splits, QUERIES, ALONE: true }),
    compiler.pipeline(attention, { ...constants, ...tile, ...splits, QUERIES: 1, ALONE: true }),
    compiler.pipeline(attention, { ...constants, ...tile, ...splits, QUERIES, ALONE: false }),
    compiler.pipeline(attentionMerge, {
      ...splits,
      WINDOW,
      LANES: MERGE_LANES,
      HEADS,
      HEAD_SIZE,
      HEAD_VEC4,
      Y_STRIDE: WIDTH,
    }),
  ]);
  const write = await compiler.pipeline(cacheWrite, { ...cache, LANES: WRITE_LANES });
  const quadsOf = async (name: string, { workgroups, ...shares }: QuadShares) => {
    return { name, workgroups, pipeline: await compiler.pipeline(attentionQuad, { ...constants, ...shares }) };
  };
  const kinds = [
    ["quads", quadShares(HEADS, KV_HEADS)],
    ...(QUERIES > 1 ? [["quads, one a head", quadShares(HEADS, KV_HEADS, 1)] as const] : []),
  ] as const;
  const quads = hasSubgroups ? await Promise.all(kinds.map(([name, shares]) => quadsOf(name, shares))) : [];

  const cases: { rows: number; context: number; kernel: string; work: Work; ms: number[] }[] = [];
  for (const count of ROWS) {
    for (const context of CONTEXTS) {
      const rows = buffer(16 * count);
      const position = context - 1;
      device.queue.writeBuffer(
        rows,
        0,
        Uint32Array.from(Array.from({ length: count }, (_, slot) => [0, position, slot, position]).flat()),
      );
      const bound = { ...shared, ...step, rows };
      const numSplits = Math.ceil(context / SPLIT);
      const merged = compiler.bind(attentionMerge, { parts, rows, y: shared.y });
      const works: Record<string, Work> = {
        "one workgroup": [[alone, compiler.bind(attention, bound), [HEADS / QUERIES, count]]],
        ...(QUERIES > 1 && { "one workgroup a head": [[unshared, compiler.bind(attention, bound), [HEADS, count]]] }),
        "in splits, merged": [
          [inSplits, compiler.bind(attention, { ...bound, y: parts }), [HEADS / QUERIES, count, numSplits]],
          [merge, merged, [Math.ceil((HEADS * HEAD_VEC4) / MERGE_LANES), count]],
        ],
        ...Object.fromEntries(
          quads.map(({ name, workgroups, pipeline }): [string, Work] => [
            name,
            [
              [write, compiler.bind(cacheWrite, bound), [Math.ceil((KV_HEADS * HEAD_VEC4) / WRITE_LANES), count]],
              [pipeline, compiler.bind(attentionQuad, bound), [workgroups, count]],
            ],
          ]),
        ),
      };
      for (const [kernel, work] of Object.entries(works)) cases.push({ rows: count, context, kernel, work, ms: [] });
    }
  }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { work, ms } of cases) {
      const repeats = 2;
      const startMs = performance.now();
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let i = 0; i < repeats; i++) {
        for (const [pipeline, bindGroup, workgroups] of work) {
          pass.setPipeline(pipeline);
          pass.setBindGroup(0, bindGroup);
          pass.dispatchWorkgroups(...workgroups);
        }
      }
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      if (round > 0) ms.push((performance.now() - startMs) / repeats);
    }
  }
  printTable(
    `Attention, ${HEADS} heads of ${HEAD_SIZE}, ${KV_HEADS} of keys and values, f16 cache: median of ${ROUNDS}, in one run`,
    ["rows", "context", "kernel", "ms", "over one workgroup"],
    cases.map(({ rows, context, kernel, ms }) => {
      const standard = cases.find((one) => one.rows === rows && one.context === context);
      const ratio = medianOf(ms) / medianOf(standard?.ms ?? []);
      return [rows, context, kernel, medianOf(ms).toFixed(2), ratio.toFixed(2)];
    }),
  );
});

function buffer(bytes: number): GPUBuffer {
  return makeBuffer(device, bytes);
}
