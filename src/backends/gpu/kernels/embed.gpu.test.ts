import { expect, it } from "vitest";

import { readF32 } from "../../../files/tensor.ts";
import { FEEDBACK } from "../../../engine/step-plan.ts";
import { expectClose, floatsOf, openTestDevice, randomFloats, runKernel } from "../../../../tests/gpu/gpu.ts";
import { layoutOf, PACKINGS, randomPacked } from "../../../../tests/references/packed-tensor.ts";
import { uploadedWords } from "../../../../tests/gpu/uploaded-words.ts";
import { weightsAsKept } from "../../../../tests/references/weights-as-kept.ts";
import { layoutConstants } from "../matrix-layout.ts";
import { packMatrix } from "../../../../tests/references/pack-matrix.ts";
import { padRows, strideOf } from "../padding.ts";
import { embed } from "./kernels.ts";

const { device } = await openTestDevice();

/** Each dtype with some odd size: compiling takes most of the time. */
const TABLES = [
  { dtype: "f32", width: 1, vocabulary: 2 },
  { dtype: "f32", width: 70, vocabulary: 131 },
  { dtype: "f16", width: 33, vocabulary: 50 },
  { dtype: "bf16", width: 70, vocabulary: 131 },
  { dtype: "q8", width: 33, vocabulary: 131 },
  { dtype: "q4", width: 70, vocabulary: 50 },
] as const;

it.each(TABLES)(
  "embedding from $dtype weights of width $width and $vocabulary tokens adds token and position",
  async ({ dtype, width, vocabulary }) => {
    const wte = randomFloats(vocabulary * width, 1);
    const wpe = randomFloats(8 * width, 2);
    const last = vocabulary - 1;
    // (token, position, slot): the third row's token is the last one sampled in slot 2.
    const rows = [
      [0, 3, 0],
      [last, 7, 1],
      [FEEDBACK, 0, 2],
    ];
    const tokens = [0, last, 1];
    const outputs = await runKernel(
      device,
      embed,
      {
        LANES: 64,
        K4: strideOf(width) / 4,
        N4: strideOf(vocabulary) / 4,
        FIRST_TOKEN: 0,
        SCALE: 1,
        LEARNED_POSITIONS: true,
        ...layoutConstants(layoutOf(dtype)),
      },
      {
        w: packMatrix(wte, width, vocabulary, dtype, { transposed: true }).words,
        wpe: padRows(wpe, 8, width),
        rows: new Uint32Array(rows.flatMap((row) => [...row, 0])),
        feedback: new Uint32Array([last, last, 1, last]),
        x: new Float32Array(3 * strideOf(width)).fill(9),
      },
      [Math.ceil(strideOf(width) / 64), 3],
    );
    // A group lies along the width, that is, along a row of the table.
    const kept = weightsAsKept(wte, vocabulary, width, dtype, { groupsAlong: "rows" });
    const expected = new Float32Array(3 * strideOf(width));
    rows.forEach(([, position = 0], r) => {
      for (let i = 0; i < width; i++) {
        expected[r * strideOf(width) + i] =
          (kept[(tokens[r] ?? 0) * width + i] ?? 0) + (wpe[position * width + i] ?? 0);
      }
    });
    expectClose(floatsOf(outputs, "x"), expected, 1e-6);
  },
);

it.each(["Q4_0", "Q5_K", "Q6_K", "MLX4"] as const)("embedding from %s gives its values", async (name) => {
  const [width, vocabulary] = [256, 70];
  const tensor = randomPacked(PACKINGS[name], vocabulary, width, 3);
  const constants = { LANES: 64, K4: width / 4, N4: strideOf(vocabulary) / 4, FIRST_TOKEN: 0, SCALE: 1 };
  const outputs = await runKernel(
    device,
    embed,
    { ...constants, LEARNED_POSITIONS: false, ...layoutConstants(PACKINGS[name]) },
    {
      w: await uploadedWords(device, tensor, PACKINGS[name]),
      wpe: new Float32Array(4),
      rows: new Uint32Array(Array.from({ length: vocabulary }, (_, token) => [token, 0, 0, 0]).flat()),
      feedback: new Uint32Array(4),
      x: new Float32Array(vocabulary * width),
    },
    [width / 64, vocabulary],
  );
  expect(floatsOf(outputs, "x")).toEqual(await readF32(tensor));
});
