import { describe, expect, it } from "vitest";

import { layoutOf, expectNear, paddedRows, randomNormals, testKernels } from "../../../../tests/cpu/cpu.ts";
import { layerNormReference } from "../../../../tests/references/reference.ts";
import { weightsAsKept } from "../../../../tests/references/weights-as-kept.ts";
import { strideOf } from "../pack/panel-matrix.ts";
import { SCRATCH_BYTES } from "./product.ts";

describe.each(["portable", "fastest"] as const)("%s", (math) => {
  it.each([1, 3, 31, 32, 33, 100, 384])("normalises rows of %i values", async (width) => {
    const { kernels, put, take, floats } = await testKernels({ math });
    const x = randomNormals(width, width, 3).map((value) => value + 2);
    const [gamma, beta] = [randomNormals(width, 1), randomNormals(width, 2)];
    const stride = strideOf(width);
    const addresses = [x, gamma, beta].map((values) => put(paddedRows(values, 1, width)));
    const [xAt = 0, gammaAt = 0, betaAt = 0] = addresses;
    const y = take(4 * stride);

    kernels.layer_norm(xAt, y, gammaAt, betaAt, 4 * stride, width, 1e-5);
    expectNear(floats(y, width), layerNormReference(x, gamma, beta, 1e-5), 2e-6);
    expect([...floats(y, stride)].slice(width)).toEqual(Array(stride - width).fill(0));

    kernels.rms_norm(xAt, y, gammaAt, 4 * stride, width, 1e-6);
    const meanSquare = x.reduce((sum, value) => sum + value * value, 0) / width;
    const expected = Float64Array.from(x, (value, i) => (value / Math.sqrt(meanSquare + 1e-6)) * (gamma[i] ?? 0));
    expectNear(floats(y, width), expected, 2e-6);
    expect([...floats(y, stride)].slice(width)).toEqual(Array(stride - width).fill(0));
  });

  it.each([4, 8, 12, 64, 80])("rotates heads of %i values", async (headSize) => {
    const { kernels, put, floats } = await testKernels({ math, cache: { dtype: "f32", headSize, blockSize: 16 } });
    const half = headSize / 2;
    const x = randomNormals(3 * headSize, 1);
    const angles = Float32Array.from({ length: half }, (_, i) => 17 * 10_000 ** (-i / half));
    const at = put(x);
    kernels.rotate(at, 3, put(new Float32Array([...angles.map(Math.cos), ...angles.map(Math.sin)])));
    const expected = Float64Array.from(x, (value, i) => {
      const d = i % headSize;
      const angle = angles[d % half] ?? NaN;
      const other = x[d < half ? i + half : i - half] ?? NaN;
      return value * Math.cos(angle) + (d < half ? -other : other) * Math.sin(angle);
    });
    expectNear(floats(at, x.length), expected, 1e-6);
  });
});

it.each(["f32", "f16", "q8", "q4"] as const)("embeds tokens out of %s panels, exactly", async (dtype) => {
  const { kernels, embed, matrix, take, put, floats } = await testKernels({ layout: layoutOf(dtype) });
  const [width, vocabSize, scale] = [45, 19, Math.fround(Math.sqrt(45))];
  const table = randomNormals(vocabSize * width, 3);
  const kept = weightsAsKept(table, vocabSize, width, dtype, { groupsAlong: "rows" });
  const w = matrix(table, width, vocabSize, true);
  const y = take(4 * 64);
  const scratch = take(SCRATCH_BYTES);
  const position = randomNormals(width, 4);
  const positionAt = put(paddedRows(position, 1, width));
  for (let token = 0; token < vocabSize; token++) {
    embed(w.address, token, y, 4 * 64, scale, scratch);
    const row = kept.subarray(token * width, (token + 1) * width).map((value) => value * scale);
    // Zeros in the padding may have either sign.
    expectNear(floats(y, 64), paddedRows(row, 1, width), 0);
    kernels.add(y, positionAt, 4 * 64);
    const sum = row.map((value, i) => value + (position[i] ?? NaN));
    expectNear(floats(y, width), sum, 0);
  }
});
