// WebAssembly's instructions by their own names, as functions from expressions to expressions.

import type { ByteBuffer } from "./byte-buffer.ts";
import {
  i64Const,
  lanes,
  toF32,
  toF32x4,
  toI32,
  toI32x4,
  Value,
  type F32,
  type F32x4,
  type I32,
  type I32x4,
  type ValueType,
  type Vector,
} from "./value.ts";

const SIMD = 0xfd;
const ATOMIC = 0xfe;
/** Log2 of the alignment that an access promises. 0 promises nothing; more makes no engine faster. */
const UNALIGNED = 0;
const ATOMIC_ALIGNMENT = 2;

function simdCode(code: number): readonly number[] {
  return code < 0x80 ? [SIMD, code] : [SIMD, (code & 0x7f) | 0x80, code >> 7];
}

function instruction<T extends ValueType>(
  type: T,
  code: readonly number[],
  operands: readonly Value<ValueType>[],
  immediates?: (out: ByteBuffer) => void,
): Value<T> {
  return new Value(type, (out) => {
    for (const operand of operands) operand.emit(out);
    out.bytes(code);
    immediates?.(out);
  });
}

const i32Binary = (code: number) => (a: I32, b: I32) => instruction("i32", [code], [toI32(a), toI32(b)]);
const f32Binary = (code: number) => (a: F32, b: F32) => instruction("f32", [code], [toF32(a), toF32(b)]);
const f32Compare = (code: number) => (a: F32, b: F32) => instruction("i32", [code], [toF32(a), toF32(b)]);

const f32x4Unary = (code: number) => (a: F32x4) => instruction("v128", simdCode(code), [toF32x4(a)]);
const f32x4Binary = (code: number) => (a: F32x4, b: F32x4) =>
  instruction("v128", simdCode(code), [toF32x4(a), toF32x4(b)]);
const i32x4Binary = (code: number) => (a: I32x4, b: I32x4) =>
  instruction("v128", simdCode(code), [toI32x4(a), toI32x4(b)]);
const i32x4Shift = (code: number) => (a: I32x4, bits: I32) =>
  instruction("v128", simdCode(code), [toI32x4(a), toI32(bits)]);

function memory<T extends ValueType>(type: T, code: readonly number[]) {
  return (address: I32, offset = 0) =>
    instruction(type, code, [toI32(address)], (out) => {
      out.byte(UNALIGNED);
      out.unsigned(offset);
    });
}

function atomic(code: number, operands: readonly Value<ValueType>[], offset: number): Value<"i32"> {
  return instruction("i32", [ATOMIC, code], operands, (out) => {
    out.byte(ATOMIC_ALIGNMENT);
    out.unsigned(offset);
  });
}

export const i32 = {
  const: (value: number) => toI32(value),
  add: (a: I32, b: I32) => (b === 0 ? toI32(a) : instruction("i32", [0x6a], [toI32(a), toI32(b)])),
  sub: i32Binary(0x6b),
  mul: i32Binary(0x6c),
  divU: i32Binary(0x6e),
  remU: i32Binary(0x70),
  and: i32Binary(0x71),
  or: i32Binary(0x72),
  xor: i32Binary(0x73),
  shl: i32Binary(0x74),
  shrS: i32Binary(0x75),
  shrU: i32Binary(0x76),
  eqz: (a: I32) => instruction("i32", [0x45], [toI32(a)]),
  eq: i32Binary(0x46),
  ne: i32Binary(0x47),
  ltS: i32Binary(0x48),
  ltU: i32Binary(0x49),
  gtU: i32Binary(0x4b),
  geU: i32Binary(0x4f),
  load: memory("i32", [0x28]),
  reinterpret: (a: F32) => instruction("i32", [0xbc], [toF32(a)]),
  select: (condition: I32, a: I32, b: I32) => instruction("i32", [0x1b], [toI32(a), toI32(b), toI32(condition)]),
  atomicLoad: (address: I32, offset = 0) => atomic(0x10, [toI32(address)], offset),
  /** Returns the value before the addition. */
  atomicAdd: (address: I32, value: I32, offset = 0) => atomic(0x1e, [toI32(address), toI32(value)], offset),
  /** Returns the number of woken threads. */
  atomicNotify: (address: I32, count: I32, offset = 0) => atomic(0x00, [toI32(address), toI32(count)], offset),
  /** Returns 0 when woken, 1 where the value was another, 2 after the time-out. */
  atomicWait: (address: I32, expected: I32, timeoutNs: number, offset = 0) =>
    atomic(0x01, [toI32(address), toI32(expected), i64Const(timeoutNs)], offset),
};

export const f32 = {
  add: f32Binary(0x92),
  sub: f32Binary(0x93),
  mul: f32Binary(0x94),
  div: f32Binary(0x95),
  max: f32Binary(0x97),
  sqrt: (a: F32) => instruction("f32", [0x91], [toF32(a)]),
  eq: f32Compare(0x5b),
  gt: f32Compare(0x5e),
  le: f32Compare(0x5f),
  load: memory("f32", [0x2a]),
  convertI32U: (a: I32) => instruction("f32", [0xb3], [toI32(a)]),
};

export const v128 = {
  load: memory("v128", simdCode(0)),
  /** Eight integers of 8 bits, each in a lane of 16. */
  load8x8S: memory("v128", simdCode(1)),
  load8x8U: memory("v128", simdCode(2)),
  /** Four signed integers of 16 bits, each in a lane of 32. */
  load16x4S: memory("v128", simdCode(3)),
  load32Splat: memory("v128", simdCode(9)),
  and: i32x4Binary(78),
  andNot: i32x4Binary(79),
  or: i32x4Binary(80),
  xor: i32x4Binary(81),
  /** Returns bits of `a` where the mask has ones, of `b` elsewhere. */
  bitselect: (a: Vector, b: Vector, mask: Vector) => instruction("v128", simdCode(82), [a, b, mask]),
  anyTrue: (a: Vector) => instruction("i32", simdCode(83), [a]),
};

export const f32x4 = {
  splat: (a: F32) => (typeof a === "number" ? toF32x4(a) : instruction("v128", simdCode(19), [a])),
  extractLane: (a: Vector, lane: number) => instruction("f32", simdCode(31), [a], (out) => out.byte(lane)),
  lt: f32x4Binary(67),
  gt: f32x4Binary(68),
  ge: f32x4Binary(70),
  abs: f32x4Unary(224),
  neg: f32x4Unary(225),
  add: f32x4Binary(228),
  sub: f32x4Binary(229),
  mul: f32x4Binary(230),
  div: f32x4Binary(231),
  /** NaN if one of them is. */
  max: f32x4Binary(233),
  /** Rounds to integers, ties to even. */
  nearest: f32x4Unary(106),
  /** b < a ? b : a */
  pmin: f32x4Binary(234),
  /** a < b ? b : a */
  pmax: f32x4Binary(235),
  convertI32x4S: (a: I32x4) => instruction("v128", simdCode(250), [toI32x4(a)]),
  /** a b + c, rounded once or twice, depending on the processor: relaxed SIMD. */
  relaxedMadd: (a: F32x4, b: F32x4, c: F32x4) =>
    instruction("v128", simdCode(0x105), [toF32x4(a), toF32x4(b), toF32x4(c)]),
};

export const i32x4 = {
  lanes,
  splat: (a: I32) => (typeof a === "number" ? toI32x4(a) : instruction("v128", simdCode(17), [a])),
  extractLane: (a: Vector, lane: number) => instruction("i32", simdCode(27), [a], (out) => out.byte(lane)),
  /** Returns four of the eight lanes of both, 4 to 7 being those of `b`: i8x16.shuffle. */
  shuffle: (a: Vector, b: Vector, picked: readonly [number, number, number, number]) =>
    instruction("v128", simdCode(13), [a, b], (out) =>
      out.bytes(picked.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte))),
    ),
  ltS: i32x4Binary(57),
  gtS: i32x4Binary(59),
  geU: i32x4Binary(64),
  bitmask: (a: Vector) => instruction("i32", simdCode(164), [a]),
  shl: i32x4Shift(171),
  shrS: i32x4Shift(172),
  shrU: i32x4Shift(173),
  add: i32x4Binary(174),
  sub: i32x4Binary(177),
  /** Returns sums of two neighbouring products of integers of 16 bits. */
  dotI16x8S: i32x4Binary(186),
  /** Adds sums of four neighbouring products, of -128 to 127 and 0 to 127: relaxed SIMD. See ../integer-dots.ts for 128 to 255. */
  relaxedDotI8x16I7x16AddS: (a: Vector, b: Vector, sum: Vector) => instruction("v128", simdCode(0x113), [a, b, sum]),
  /** Returns sums of two neighbouring integers of 16 bits. */
  extaddPairwiseI16x8S: (a: Vector) => instruction("v128", simdCode(126), [a]),
  /** Returns the lower, or the upper four of eight signed integers of 16 bits. */
  extendLowI16x8S: (a: Vector) => instruction("v128", simdCode(167), [a]),
  extendHighI16x8S: (a: Vector) => instruction("v128", simdCode(168), [a]),
  /** These round towards zero; NaN becomes 0, and too large values the largest. */
  truncSatF32x4S: (a: F32x4) => instruction("v128", simdCode(248), [toF32x4(a)]),
  truncSatF32x4U: (a: F32x4) => instruction("v128", simdCode(249), [toF32x4(a)]),
};

export const i16x8 = {
  /** Returns the lanes of both, saturated. */
  narrowI32x4S: (a: Vector, b: Vector) => instruction("v128", simdCode(133), [a, b]),
  shrU: i32x4Shift(141),
  add: i32x4Binary(142),
  /** Returns sums of two neighbouring products, of -128 to 127 and 0 to 127: relaxed SIMD. */
  relaxedDotI8x16I7x16S: (a: Vector, b: Vector) => instruction("v128", simdCode(0x112), [a, b]),
};

export const i8x16 = {
  /** Returns bytes of the table at indices below 16. */
  swizzle: (table: Vector, indices: Vector) => instruction("v128", simdCode(14), [table, indices]),
  /** Returns the lanes of both, saturated. */
  narrowI16x8S: (a: Vector, b: Vector) => instruction("v128", simdCode(101), [a, b]),
};
