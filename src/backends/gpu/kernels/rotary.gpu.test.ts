import { expect, it } from "vitest";

import { expectClose, floatsOf, openTestDevice, randomFloats, runKernel } from "../../../testing/gpu.ts";
import { rotaryReference } from "../../../testing/reference.ts";
import { rotaryTable } from "../operations/rotation.ts";
import { padRows, strideOf } from "../padding.ts";
import { rotary } from "./rotary.ts";

const { device } = await openTestDevice();

it.each([
  { heads: 1, kvHeads: 1, headSize: 2 },
  { heads: 3, kvHeads: 1, headSize: 6 },
  { heads: 4, kvHeads: 2, headSize: 32 },
  { heads: 9, kvHeads: 3, headSize: 64 },
])(
  "rotates $heads query and $kvHeads key heads of $headSize by their positions",
  async ({ heads, kvHeads, headSize }) => {
    const width = (heads + 2 * kvHeads) * headSize;
    const positions = [0, 1, 77, 511];
    const frequencies = Array.from({ length: headSize / 2 }, (_, i) => 10_000 ** ((-2 * i) / headSize));
    const qkv = randomFloats(positions.length * width, 1);
    const outputs = await runKernel(
      device,
      rotary,
      { LANES: 16, HEADS: heads, KV_HEADS: kvHeads, HEAD_SIZE: headSize, QKV_STRIDE: strideOf(width) },
      {
        angles: rotaryTable({ inverseFrequencies: frequencies, scaling: 1 }, 512),
        rows: new Uint32Array(positions.flatMap((position) => [0, position, 0, position])),
        qkv: padRows(qkv, positions.length, width),
      },
      [Math.ceil(((heads + kvHeads) * headSize) / 2 / 16), positions.length],
    );
    const turned = floatsOf(outputs, "qkv");
    positions.forEach((position, r) => {
      const row = qkv.subarray(r * width, (r + 1) * width);
      const expected = new Float64Array(strideOf(width));
      expected.set(row);
      for (let head = 0; head < heads + kvHeads; head++) {
        const at = head * headSize;
        expected.set(rotaryReference(row.subarray(at, at + headSize), position, frequencies), at);
      }
      expectClose(turned.subarray(r * strideOf(width), (r + 1) * strideOf(width)), expected, 1e-6);
    });
  },
);

it("scales cosine and sine if the angles have a scale", () => {
  const table = rotaryTable({ inverseFrequencies: [1], scaling: 0.5 }, 2);
  expectClose(table, [0.5, 0, 0.5 * Math.cos(1), 0.5 * Math.sin(1)], 1e-7);
  expect(table).toHaveLength(4);
});
