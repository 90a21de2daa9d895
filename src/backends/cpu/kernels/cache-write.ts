// keys[block, head, :, t] = k[head, :],  values[block, head, t, :] = v[head, :]      one row, heads that lie side by side
//
//   keys     [block][head][HEAD_SIZE][BLOCK_SIZE]     so that the scores of four tokens are one vector
//   values   [block][head][BLOCK_SIZE][HEAD_SIZE]
//
// f32 or halves, rounded to the nearest. HEAD_SIZE is a multiple of 4: smaller heads are padded with zeros.

import { f32, i32, i32x4, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import { toHalves } from "./halves.ts";
import { KERNELS } from "./signatures.ts";

/** Layout of a layer's keys and values; the same for all layers. */
export interface CacheShape {
  readonly dtype: "f32" | "f16";
  /** With its padding: a multiple of 4. */
  readonly headSize: number;
  /** Tokens of a block: a multiple of 4. */
  readonly blockSize: number;
}

/** Dimensions of a head that attention takes at once. */
const HEAD_MULTIPLE = 4;

/** Returns the size of a head with its padding. */
export function headStrideOf(headDim: number): number {
  return Math.ceil(headDim / HEAD_MULTIPLE) * HEAD_MULTIPLE;
}

export function valueBytes({ dtype }: CacheShape): number {
  return dtype === "f32" ? 4 : 2;
}

/** Bytes of one head's keys, or values, in a block. */
export function headBlockBytes(shape: CacheShape): number {
  return shape.headSize * shape.blockSize * valueBytes(shape);
}

export function defineCacheWrite(module: ModuleBuilder, shape: CacheShape): void {
  const { headSize, blockSize } = shape;
  const size = valueBytes(shape);
  module.function("cache_write", KERNELS.cache_write, (f, { k, v, keys, values, token, heads }) => {
    f.increment(keys, i32.mul(token, size));
    f.increment(values, i32.mul(token, headSize * size));
    f.doWhile(
      () => {
        const keyAt = f.i32(keys);
        const valueAt = f.i32(values);
        f.for(0, 4 * headSize, 16, (d) => {
          const key = i32.add(k, d);
          const value = i32.add(v, d);
          if (shape.dtype === "f32") {
            for (let i = 0; i < 4; i++) f.storeF32(keyAt, f32.load(key, 4 * i), 4 * i * blockSize);
            f.storeV128(valueAt, v128.load(value));
          } else {
            const keyHalves = toHalves(f, v128.load(key));
            for (let i = 0; i < 4; i++) f.storeI16(keyAt, i32x4.extractLane(keyHalves, i), 2 * i * blockSize);
            const valueHalves = toHalves(f, v128.load(value));
            for (let i = 0; i < 4; i++) f.storeI16(valueAt, i32x4.extractLane(valueHalves, i), 2 * i);
          }
          f.increment(keyAt, 4 * blockSize * size);
          f.increment(valueAt, 4 * size);
        });
        f.increment(k, 4 * headSize);
        f.increment(v, 4 * headSize);
        f.increment(keys, headBlockBytes(shape));
        f.increment(values, headBlockBytes(shape));
        f.increment(heads, -1);
      },
      i32.ne(heads, 0),
    );
  });
}
