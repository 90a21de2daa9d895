import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { GGML_TYPES } from "./ggml-types.ts";

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
  const { blockBytes, blockWeights } = type;
  expect(type).toMatchObject({ name, blockBytes: expected.block_bytes, blockWeights: expected.block_weights });
  const values = new Float32Array(expected.values.count);
  for (let block = 0; block < expected.blocks; block++) {
    type.unpack(data, expected.bytes.off + block * blockBytes, values, block * blockWeights);
  }
  const at = expected.values.off;
  const reference = new Uint32Array(data.slice(at, at + 4 * values.length).buffer);
  const differs = new Uint32Array(values.buffer).findIndex((bits, i) => bits !== reference[i]);
  expect(differs).toBe(-1);
});
