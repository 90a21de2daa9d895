import type { ByteBuffer } from "./byte-buffer.ts";

/** Binary codes of the types that kernels use. */
export const TYPE_CODE = { i32: 0x7f, i64: 0x7e, f32: 0x7d, v128: 0x7b } as const;
export type ValueType = keyof typeof TYPE_CODE;

/**
 * An expression: code that leaves one value on WebAssembly's stack. It is emitted each time that a statement uses it, so an
 * expensive value belongs in a local.
 */
export class Value<T extends ValueType> {
  readonly type: T;
  readonly emit: (out: ByteBuffer) => void;

  constructor(type: T, emit: (out: ByteBuffer) => void) {
    this.type = type;
    this.emit = emit;
  }
}

/** A number stands for a constant: in vectors, for the same constant in each lane. */
export type I32 = Value<"i32"> | number;
export type F32 = Value<"f32"> | number;
export type Vector = Value<"v128">;
export type F32x4 = Vector | number;
export type I32x4 = Vector | number;

const I32_CONST = 0x41;
const I64_CONST = 0x42;
const F32_CONST = 0x43;
const SIMD = 0xfd;
const V128_CONST = 0x0c;

export function toI32(value: I32): Value<"i32"> {
  if (typeof value !== "number") return value;
  return new Value("i32", (out) => {
    out.byte(I32_CONST);
    out.signed(value);
  });
}

export function toF32(value: F32): Value<"f32"> {
  if (typeof value !== "number") return value;
  return new Value("f32", (out) => {
    out.byte(F32_CONST);
    out.f32(value);
  });
}

/** @param value within 32 bits */
export function i64Const(value: number): Value<"i64"> {
  return new Value("i64", (out) => {
    out.byte(I64_CONST);
    out.signed(value);
  });
}

export function toF32x4(value: F32x4): Vector {
  if (typeof value !== "number") return value;
  const [bits = 0] = new Int32Array(Float32Array.of(value).buffer);
  return toI32x4(bits);
}

export function toI32x4(value: I32x4): Vector {
  return typeof value === "number" ? lanes(value, value, value, value) : value;
}

/** A constant of four integers. */
export function lanes(...values: readonly [number, number, number, number]): Vector {
  return new Value("v128", (out) => {
    out.byte(SIMD);
    out.byte(V128_CONST);
    for (const value of values) out.i32(value);
  });
}
