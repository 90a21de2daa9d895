import { expect, it } from "vitest";

import { expectClose, openTestDevice, randomFloats, runKernel } from "../../../../tests/gpu/gpu.ts";
import { packSamples } from "../../../../tests/gpu/samples.ts";
import { partsOf } from "../../../../tests/gpu/sum-logits.ts";
import { strideOf } from "../padding.ts";
import { topLogprobs } from "./kernels.ts";

const { device } = await openTestDevice();
const MAX_TOP = 5;

/** Returns (token, log-probability) of each sample's most likely tokens, as many as its count. */
async function topOf(
  logits: Float32Array,
  counts: readonly number[],
  processed: Float32Array | null = null,
): Promise<[number, number][][]> {
  const STRIDE = strideOf(logits.length);
  const rows = new Float32Array(counts.length * STRIDE);
  const processedRows = new Float32Array(rows.length);
  counts.forEach((_, i) => rows.set(logits, i * STRIDE));
  counts.forEach((_, i) => processedRows.set(processed ?? [], i * STRIDE));
  const shape = { VOCABULARY: logits.length, STRIDE };
  const samples = packSamples(counts.map((num_top) => ({ num_top, flags: processed === null ? 0 : 4 })));
  const { top } = await runKernel(
    device,
    topLogprobs,
    { LANES: 64, ...shape, MAX_TOP, PROCESSED_LOGPROBS: false },
    {
      logits: rows,
      processed: processedRows,
      samples,
      logit_parts: await partsOf(device, rows, { ...shape, samples }),
      top: new Uint32Array(2 * MAX_TOP * counts.length),
    },
    [counts.length, 1],
  );
  const words = new Uint32Array(top ?? new ArrayBuffer(0));
  const floats = new Float32Array(words.buffer);
  return counts.map((count, i) =>
    Array.from({ length: count }, (_, n): [number, number] => {
      const at = 2 * (i * MAX_TOP + n);
      return [words[at] ?? -1, floats[at + 1] ?? NaN];
    }),
  );
}

it.each([5, 31, 64, 1001])(
  "finds the most likely of %i tokens, in order, as many as each sample wants",
  async (size) => {
    const logits = randomFloats(size, size, 8);
    const order = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]!);
    const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
    for (const top of await topOf(logits, [0, 1, 5, 3])) {
      expect(top.map(([token]) => token)).toEqual(order.slice(0, top.length));
      expectClose(
        top.map(([, logprob]) => logprob),
        top.map(([token]) => logits[token]! - total),
        1e-4,
      );
    }
  },
);

it("orders equally likely tokens by their ids", async () => {
  const logits = new Float32Array(300).fill(-5);
  logits[299] = logits[7] = logits[130] = 1;
  const [top] = await topOf(logits, [5]);
  expect(top?.map(([token]) => token)).toEqual([7, 130, 299, 0, 1]);
});

it("gives a beam the highest processed values unchanged", async () => {
  const processed = randomFloats(300, 3, 8);
  const order = [...processed.keys()].sort((a, b) => processed[b]! - processed[a]!).slice(0, 5);
  const [top] = await topOf(randomFloats(300, 4, 8), [5], processed);
  expect(top).toEqual(order.map((token) => [token, processed[token]]));
});
