import { expect, it } from "vitest";

import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import { Arena } from "./arena.ts";
import { KernelCompiler, type Dispatch, type KernelVariant } from "./kernel.ts";
import { matmulSkinny } from "./kernels/kernels.ts";
import { Epilogue } from "../epilogues.ts";
import { layoutConstants } from "./matrix-layout.ts";
import { firstMatmuls, matmulChoices, type MatmulShape, type MatmulVariant } from "./matmul-variants.ts";
import { answersOfProduct } from "./same-product.ts";
import { StepBuffer } from "./step-buffer.ts";

const opened = await openTestDevice();
const { device } = opened;
const MAX_ROWS = 100;
const ON_GPUS = matmulChoices({ style: "fused", hasSubgroups: false });
const STANDARD = ON_GPUS.map(([standard]) => standard);
const FIRST = firstMatmuls(STANDARD, "fused")[0] ?? expect.fail("no kernel");
const TILED = STANDARD.at(-1) ?? FIRST;

interface Tried {
  /** Columns over 4. */
  readonly N4: number;
  readonly isHead?: boolean;
}

/** Compares a kernel for GPUs with the one that is compiled first. Counts the bytes that were written and read for it. */
async function isSame(
  variant: MatmulVariant,
  { N4, isHead = false }: Tried,
  change = (code: string): string => code,
): Promise<{ isSame: boolean; bytes: number }> {
  const arena = new Arena(device);
  const compiler = new KernelCompiler(device);
  const sizes = { maxRows: MAX_ROWS, maxSamples: MAX_ROWS, maxSlots: 1, maxBlocks: 1, maxLength: 16 };
  const step = new StepBuffer(arena, { ...sizes, vocabSize: 4 * N4, logprobsMode: "raw_logprobs" });
  const K4 = 16;
  const shape: MatmulShape = {
    K4,
    N4,
    Y4: N4,
    SAMPLES_ONLY: isHead,
    EPILOGUE: isHead ? Epilogue.head : Epilogue.addToOutput,
    ...layoutConstants("f32"),
  };
  const w = arena.storage("w", 16 * 4 * K4 * N4);
  const bias = arena.storage("bias", 16 * N4);
  for (const buffer of [w, bias]) {
    const values = Float32Array.from({ length: buffer.size / 4 }, (_, i) => ((i * 37) % 101) / 101 - 0.5);
    device.queue.writeBuffer(buffer, 0, values);
  }
  const x = arena.storage("x", 16 * MAX_ROWS * K4);
  const y = arena.storage("y", 16 * MAX_ROWS * N4);
  const parts = arena.storage("parts", 2 * MAX_ROWS * N4);
  const { samples, step: size } = step;
  const bound = { x, w, bias, norm: bias, samples, y, logit_parts: parts, step: size };
  const bindGroup = compiler.bind(matmulSkinny, bound);
  const head = isHead ? { VOCABULARY: 4 * N4, FIRST_TOKEN: 0 } : null;
  const tried = variant.kernel(shape, { head });
  const changed: KernelVariant = { ...tried, kernel: { ...tried.kernel, code: change(tried.kernel.code) } };
  const dispatch = (pipeline: GPUComputePipeline): Dispatch => ({
    name: "product",
    pipeline,
    bindGroup,
    workgroups: () => [1, 1],
  });
  const kernels = [
    { variant: FIRST, dispatches: [dispatch(await compiler.compile(FIRST.kernel(shape, { head })))] },
    { variant, dispatches: [dispatch(await compiler.compile(changed))] },
  ] as const;
  let bytes = 0;
  const write = device.queue.writeBuffer.bind(device.queue);
  device.queue.writeBuffer = (buffer: GPUBuffer, offset: number, data: BufferSource) => {
    bytes += data.byteLength;
    return write(buffer, offset, data);
  };
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    bytes += descriptor.size;
    return create(descriptor);
  };
  try {
    const product = { shape, x, y, head: head && { ...head, logitParts: parts } };
    const { known, given } = await answersOfProduct({ ...opened, step }, product, kernels);
    return { isSame: known === given, bytes };
  } finally {
    Object.assign(device.queue, { writeBuffer: write });
    Object.assign(device, { createBuffer: create });
    arena.destroy();
  }
}

/** Of each height, and of each width. matmul-tuning.gpu.test.ts has all. */
const SOME = ON_GPUS.flat().filter(({ name }) =>
  [
    "skinny 1 x 16 x 16",
    "skinny 4 x 32 x 4",
    "skinny 8 x 8 x 16",
    "tiled 32 x 64 by 128",
    "tiled 64 x 64 by 256",
  ].includes(name),
);

it.each(SOME)("$name gives the same, however wide a workgroup is", async (variant) => {
  expect(SOME).toHaveLength(5);
  expect((await isSame(variant, { N4: 520 })).isSame).toBe(true);
});

it("a head's kernel gives the same logits and summary", async () => {
  expect((await isSame(TILED, { N4: 520, isHead: true })).isSame).toBe(true);
});

it("reads and writes no more of a large head than of a small one", async () => {
  const [small, large] = [
    await isSame(TILED, { N4: 520, isHead: true }),
    await isSame(TILED, { N4: 5200, isHead: true }),
  ];
  expect(large.bytes).toBe(small.bytes);
  expect(small.bytes).toBeLessThan(1.5e6);
});

const SWAPPED = "s = fma(k2, vec4(input.z), s);\n          s = fma(k1, vec4(input.y), s);";

it.each([
  ["a late row of a tile", "ROWS * local.y + r;", "ROWS * local.y + r - select(0u, 1u, local.y == 5u);"],
  ["the rows of the second tile", "first_row = group.y * TILE_ROWS", "first_row = 0u * TILE_ROWS"],
  [
    "a late column of a tile",
    "store(total[r * VECS + v],",
    "store(total[r * VECS + v] * select(1.0, 1.01, local.x == 7u),",
  ],
  ["the sum over K", "chunk < K4; chunk", "chunk < K4 - 8u; chunk"],
  ["the order of two additions", "s = fma(k1, vec4(input.y), s);\n          s = fma(k2, vec4(input.z), s);", SWAPPED],
])("notices a fault in %s", async (_what, right, wrong) => {
  const change = (code: string): string => {
    expect(code).toContain(right);
    return code.replaceAll(right, wrong);
  };
  expect((await isSame(TILED, { N4: 40 }, change)).isSame).toBe(false);
});

it("notices a wrong summary of logits", async () => {
  const change = (code: string): string =>
    code.replace("part.total, part.luck, part.tokens", "part.total * 1.01, part.luck, part.tokens");
  expect((await isSame(TILED, { N4: 40, isHead: true }, change)).isSame).toBe(false);
});
