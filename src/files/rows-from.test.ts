import { expect, test } from "vitest";

import { PACKINGS, randomPacked } from "../../tests/references/packed-tensor.ts";
import { tensorOf } from "../../tests/references/tensors.ts";
import { unpackRows } from "./packing.ts";
import { joinRows, rowsFrom } from "./rows-from.ts";
import { layoutOf, readF32, rowsOf, type Tensor } from "./tensor.ts";

const COLUMNS = 512;

const inHex = ({ buffer }: Float32Array<ArrayBuffer>) => Buffer.from(buffer).toString("hex");
const bits = async (tensor: Tensor) => inHex(await readF32(tensor));
const packedBits = async ({ packed, rows }: Tensor) =>
  packed ? inHex(unpackRows(packed.packing, await packed.readRows(0, rows))) : expect.fail("plain");

/** Each row of `tensor` by itself. */
async function rowsApart(tensor: Tensor): Promise<string[]> {
  return Promise.all(Array.from({ length: tensor.rows }, (_, row) => bits(rowsOf(tensor, row, 1))));
}

const names = Object.keys(PACKINGS) as (keyof typeof PACKINGS)[];

test.each(names)("rows of %s move whole, whichever are read", async (name) => {
  const tensor = randomPacked(PACKINGS[name], 12, COLUMNS, 1);
  const order = [5, 4, 11, 0, 1, 2, 7];
  const moved = rowsFrom([tensor], order.length, (i) => ({ tensor, row: order[i] ?? 0 }));
  expect(layoutOf(moved)).toEqual(PACKINGS[name]);
  const expected = await rowsApart(tensor);
  for (const [i, row] of order.entries()) expect(await packedBits(rowsOf(moved, i, 1))).toEqual(expected[row]);
  const run = rowsOf(moved, 2, 4);
  expect(await packedBits(run)).toEqual(await bits(run));
});

test.each(names.map((name, i) => [name, names[(i + 5) % names.length] ?? name] as const))(
  "%s beside %s: one wide packing has the bits of both, the sign of zero too, and a part its own packing",
  async (one, other) => {
    // Weights of 8 bits that are centred, and such that are not, share no packing: no file has both.
    if ([one, other].includes("MLX8")) return;
    const parts = [randomPacked(PACKINGS[one], 3, COLUMNS, 2), randomPacked(PACKINGS[other], 4, COLUMNS, 3)];
    const joined = joinRows(parts);
    expect(await packedBits(joined)).toEqual(await bits(joined));
    const rows = [...(await rowsApart(parts[0] as Tensor)), ...(await rowsApart(parts[1] as Tensor))];
    expect(await rowsApart(joined)).toEqual(rows);
    expect(layoutOf(rowsOf(joined, 0, 3))).toEqual(PACKINGS[one]);
    expect(layoutOf(rowsOf(joined, 3, 4))).toEqual(PACKINGS[other]);
    expect(layoutOf(joined)).toMatchObject({ bits: 8, floats: "float" });
  },
);

test("packed rows beside plain ones are F32", async () => {
  const plain = tensorOf(Float32Array.from({ length: 2 * COLUMNS }, Math.sqrt), 2, COLUMNS, "BF16");
  const packed = randomPacked(PACKINGS.Q6_K, 2, COLUMNS, 4);
  const joined = joinRows([packed, plain]);
  expect([layoutOf(joined), joined.packed]).toEqual(["f32", null]);
  expect(await rowsApart(joined)).toEqual([...(await rowsApart(packed)), ...(await rowsApart(plain))]);
});

test("rows that lie far apart are read apart", async () => {
  const read: number[] = [];
  const tensor = tensorOf(new Float32Array(100_000), 100_000, 1);
  const counted: Tensor = {
    ...tensor,
    readRows(begin, end) {
      read.push(end - begin);
      return tensor.readRows(begin, end);
    },
  };
  const rows = [99_999, 7, 8];
  await rowsFrom([counted], rows.length, (i) => ({ tensor: counted, row: rows[i] ?? 0 })).readRows(0, rows.length);
  expect(read).toEqual([2, 1]);
});
