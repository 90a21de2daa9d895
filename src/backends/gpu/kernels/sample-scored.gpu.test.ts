import { describe, expect, it } from "vitest";

import { openTestDevice, runKernel } from "../../../../tests/gpu/gpu.ts";
import { packSamples } from "../../../../tests/gpu/samples.ts";
import { partsOf } from "../../../../tests/gpu/sum-logits.ts";
import { strideOf } from "../padding.ts";
import { samplePlain } from "./kernels.ts";

const { device } = await openTestDevice();
const MAX_LENGTH = 16;
const SCORED = 16;
const PLAIN = 32;

describe("a token of the prompt", () => {
  it.each([1, 31, 300])(
    "is scored and ranked under the raw logits of %i tokens, and nothing is drawn",
    async (size) => {
      const stride = strideOf(size);
      const logits = Float32Array.from({ length: size }, (_, i) => 3 * Math.sin(i * i));
      if (size > 2) logits[2] = logits[1] ?? 0; // equal logits share a rank
      const scored = [...new Set([0, Math.min(1, size - 1), Math.min(2, size - 1), size - 1])];
      const rows = new Float32Array(scored.length * stride);
      scored.forEach((_, i) => rows.set(logits, i * stride));
      const untouched = new Uint32Array(scored.length).fill(77);
      const shape = { VOCABULARY: size, STRIDE: stride };
      const flags = SCORED + PLAIN;
      const samples = packSamples(scored.map((token) => ({ temperature: 0, flags, scored_token: token })));
      const outputs = await runKernel(
        device,
        samplePlain,
        { LANES: 64, ...shape, MAX_LENGTH },
        {
          logits: rows,
          samples,
          logit_parts: await partsOf(device, rows, { ...shape, samples }),
          feedback: untouched,
          history: new Uint32Array(scored.length * MAX_LENGTH),
          sampled: new Uint32Array(2 * scored.length),
        },
        [scored.length, 1],
      );
      const words = new Uint32Array(outputs.sampled ?? new ArrayBuffer(0));
      const floats = new Float32Array(words.buffer);
      const logTotal = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
      for (const [i, token] of scored.entries()) {
        expect(words[2 * i]).toBe(1 + logits.filter((logit) => logit > (logits[token] ?? 0)).length);
        expect(floats[2 * i + 1]).toBeCloseTo((logits[token] ?? NaN) - logTotal, 5);
      }
      expect([...new Uint32Array(outputs.feedback ?? new ArrayBuffer(0)).subarray(0, scored.length)]).toEqual([
        ...untouched,
      ]);
      expect(new Uint32Array(outputs.history ?? new ArrayBuffer(0)).some((word) => word !== 0)).toBe(false);
    },
  );
});
