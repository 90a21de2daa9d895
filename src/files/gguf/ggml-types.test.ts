import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { unpackRows } from "../packing.ts";
import { floatsOf } from "../tensor.ts";
import { GGML_TYPES, mainTypeOf, readBlocks } from "./ggml-types.ts";

const folder = new URL("../../../tests/fixtures/gguf/", import.meta.url);

interface Blocks {
  readonly type: string;
  readonly id: number;
  readonly block_bytes: number;
  readonly block_weights: number;
  readonly blocks: number;
  readonly bytes: { readonly off: number };
  readonly values: { readonly off: number; readonly count: number };
}

const { types } = JSON.parse(readFileSync(new URL("blocks.json", folder), "utf8")) as { types: Blocks[] };
const data = new Uint8Array(readFileSync(new URL("blocks.bin", folder)));

test.each(types.map((one) => [one.type, one] as const))("%s: each block's values, to the bit", (name, expected) => {
  const type = GGML_TYPES.get(expected.id);
  if (!type) throw new Error(`no type ${expected.id}`);
  const { blockBytes, form } = type;
  expect(type).toMatchObject({ name, blockBytes: expected.block_bytes, blockWeights: expected.block_weights });
  const bytes = data.slice(expected.bytes.off, expected.bytes.off + expected.blocks * blockBytes);
  const values = typeof form === "string" ? floatsOf(bytes, form) : unpackRows(form.packing, readBlocks(form, bytes));
  const { off: at, count } = expected.values;
  const reference = new Uint32Array(data.slice(at, at + 4 * count).buffer);
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  expect(bits.length).toBe(count);
  expect(reference.findIndex((expectedBits, i) => expectedBits !== bits[i])).toBe(-1);
  if (typeof form !== "string") {
    const { integers } = readBlocks(form, bytes);
    expect(integers.every((q) => q < 2 ** form.packing.bits)).toBe(true);
  }
});

test.each([
  ["Q4_K_M", "Q4_K"],
  ["UD-Q3_K_XL", "Q3_K"],
  ["Q8_0", "Q8_0"],
  ["IQ4_XS", "IQ4_XS"],
  ["FP16", "F16"],
  ["BF16", "BF16"],
  ["MXFP4_MOE", "MXFP4"],
  ["IQ2_XXS", undefined],
  ["Q4_0_4_4", undefined],
  ["IQ4_NL_4_4", undefined],
  ["Q4", undefined],
])("most weights of %s are %s", (quantisation, name) => {
  expect(mainTypeOf(quantisation)?.name).toBe(name);
});
