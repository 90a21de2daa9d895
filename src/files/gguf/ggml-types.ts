// The types in which GGUF files store weights, and how each one's blocks become values. ggml defines them; d, m and dMin are
// halves. "Halves of 32": the low half of byte j is weight j, its high half weight j + 16.

import { float16ToFloat32 } from "../half.ts";

/** Writes the values of the block that begins at byte `at` to `values[to]` and on. They are exact, or rounded once. */
type Unpack = (bytes: Uint8Array, at: number, values: Float32Array, to: number) => void;

export interface GgmlType {
  readonly name: string;
  /** Weights of a block; rows are whole blocks. */
  readonly blockWeights: number;
  readonly blockBytes: number;
  readonly unpack: Unpack;
}

const FLOATS = new Float32Array(1);
const FLOAT_BITS = new Uint32Array(FLOATS.buffer);
/** Every half's value. */
const HALVES = float16ToFloat32(Uint16Array.from({ length: 0x10000 }, (_, bits) => bits));

const u16 = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
const half = (bytes: Uint8Array, at: number): number => HALVES[u16(bytes, at)] ?? 0;
const low = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) & 15;
const high = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) >> 4;
const bit = (bytes: Uint8Array, at: number, i: number): number => ((bytes[at] ?? 0) >> i) & 1;
const int8 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 24) >> 24;

function fromBits(bits: number): number {
  FLOAT_BITS[0] = bits;
  return FLOATS[0] ?? 0;
}

/** Blocks of 32 in halves, with a fifth bit of each weight if there are `highBits`. */
function halvesOf32(quants: number, scaleOf: (bytes: Uint8Array, at: number) => Scale, highBits?: number): Unpack {
  return (bytes, at, values, to) => {
    const { d, m, table } = scaleOf(bytes, at);
    for (let j = 0; j < 32; j++) {
      const nibble = j < 16 ? low(bytes, at + quants + j) : high(bytes, at + quants + j - 16);
      const q = highBits === undefined ? nibble : nibble | (bit(bytes, at + highBits + (j >> 3), j & 7) << 4);
      values[to + j] = d * (table ? (table[q] ?? 0) : q) + m;
    }
  };
}

/** A value is d * q + m, or d * table[q] + m. A table also centres: zero times a negative scale keeps its sign. */
interface Scale {
  readonly d: number;
  readonly m: number;
  readonly table?: readonly number[];
}

const centred = (count: number): readonly number[] => Array.from({ length: count }, (_, q) => q - count / 2);
const [CENTRED_16, CENTRED_32] = [centred(16), centred(32)];
const IQ4 = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];
const FP4 = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/** -0: what is added changes no sign of a zero. */
const byTable = (table: readonly number[]) => (bytes: Uint8Array, at: number) => ({ d: half(bytes, at), m: -0, table });
const withMinimum = (bytes: Uint8Array, at: number) => ({ d: half(bytes, at), m: half(bytes, at + 2) });

/** Returns the scale and the minimum of a group of 32 of Q4_K and Q5_K: twelve bytes hold eight of each, in 6 bits. */
function scaleAndMin(bytes: Uint8Array, at: number, group: number): readonly [scale: number, min: number] {
  const byte = (i: number) => bytes[at + i] ?? 0;
  if (group < 4) return [byte(group) & 63, byte(group + 4) & 63];
  return [(byte(group + 4) & 15) | ((byte(group - 4) >> 6) << 4), (byte(group + 4) >> 4) | ((byte(group) >> 6) << 4)];
}

/** Q4_K, and Q5_K with its fifth bits: super-blocks of 256 in eight groups of 32. */
function kGroups(quants: number, highBits?: number): Unpack {
  return (bytes, at, values, to) => {
    const [d, dMin] = [half(bytes, at), half(bytes, at + 2)];
    for (let group = 0; group < 8; group++) {
      const [scale, min] = scaleAndMin(bytes, at + 4, group);
      const nibble = group % 2 === 0 ? low : high;
      for (let j = 0; j < 32; j++) {
        const fifth = highBits === undefined ? 0 : bit(bytes, at + highBits + j, group) << 4;
        const q = nibble(bytes, at + quants + 32 * (group >> 1) + j) | fifth;
        values[to + 32 * group + j] = d * scale * q - dMin * min;
      }
    }
  };
}

/** Returns two bits of weight i of 256: byte 32 h + j has weights 128 h + 32 k + j, for k from 0 to 3. */
const twoBits = (bytes: Uint8Array, at: number, i: number): number =>
  ((bytes[at + 32 * (i >> 7) + (i & 31)] ?? 0) >> (2 * ((i >> 5) & 3))) & 3;

const q2k: Unpack = (bytes, at, values, to) => {
  const [d, dMin] = [half(bytes, at + 80), half(bytes, at + 82)];
  for (let i = 0; i < 256; i++) {
    const scales = at + (i >> 4);
    values[to + i] = d * low(bytes, scales) * twoBits(bytes, at + 16, i) - dMin * high(bytes, scales);
  }
};

const q3k: Unpack = (bytes, at, values, to) => {
  const [scales, d] = [at + 96, half(bytes, at + 108)];
  for (let i = 0; i < 256; i++) {
    const group = i >> 4;
    const lowBits = (group < 8 ? low : high)(bytes, scales + (group & 7));
    const scale = (lowBits | ((((bytes[scales + 8 + (group & 3)] ?? 0) >> (2 * (group >> 2))) & 3) << 4)) - 32;
    const q = twoBits(bytes, at + 32, i) - (bit(bytes, at + (i & 31), i >> 5) === 1 ? 0 : 4);
    values[to + i] = d * scale * q;
  }
};

const q6k: Unpack = (bytes, at, values, to) => {
  const d = half(bytes, at + 208);
  for (let i = 0; i < 256; i++) {
    const nibble = (i & 64) === 0 ? low : high;
    const q = nibble(bytes, at + 64 * (i >> 7) + (i & 63)) | (twoBits(bytes, at + 128, i) << 4);
    values[to + i] = d * int8(bytes, at + 192 + (i >> 4)) * (q - 32);
  }
};

const iq4xs: Unpack = (bytes, at, values, to) => {
  const [d, top] = [half(bytes, at), u16(bytes, at + 2)];
  for (let i = 0; i < 256; i++) {
    const [group, j] = [i >> 5, i & 31];
    const scale =
      ((group % 2 === 0 ? low : high)(bytes, at + 4 + (group >> 1)) | (((top >> (2 * group)) & 3) << 4)) - 32;
    const q = (j < 16 ? low : high)(bytes, at + 8 + 16 * group + (j & 15));
    values[to + i] = d * scale * (IQ4[q] ?? 0);
  }
};

/** 2^(e - 128): exponents below 2 are subnormal floats. */
const fp4Scale = (bytes: Uint8Array, at: number) => ({ d: 2 ** ((bytes[at] ?? 0) - 128), m: -0, table: FP4 });

const each =
  (read: (bytes: Uint8Array, at: number) => number): Unpack =>
  (bytes, at, values, to) => {
    values[to] = read(bytes, at);
  };
const u32 = (bytes: Uint8Array, at: number): number => u16(bytes, at) | (u16(bytes, at + 2) << 16);

const type = (name: string, blockWeights: number, blockBytes: number, unpack: Unpack): GgmlType => ({
  name,
  blockWeights,
  blockBytes,
  unpack,
});

/** The types that are read, by their ids. */
export const GGML_TYPES: ReadonlyMap<number, GgmlType> = new Map([
  [
    0,
    type(
      "F32",
      1,
      4,
      each((bytes, at) => fromBits(u32(bytes, at))),
    ),
  ],
  [1, type("F16", 1, 2, each(half))],
  [2, type("Q4_0", 32, 18, halvesOf32(2, byTable(CENTRED_16)))],
  [3, type("Q4_1", 32, 20, halvesOf32(4, withMinimum))],
  [6, type("Q5_0", 32, 22, halvesOf32(6, byTable(CENTRED_32), 2))],
  [7, type("Q5_1", 32, 24, halvesOf32(8, withMinimum, 4))],
  [
    8,
    type("Q8_0", 32, 34, (bytes, at, values, to) => {
      const d = half(bytes, at);
      for (let j = 0; j < 32; j++) values[to + j] = d * int8(bytes, at + 2 + j);
    }),
  ],
  [10, type("Q2_K", 256, 84, q2k)],
  [11, type("Q3_K", 256, 110, q3k)],
  [12, type("Q4_K", 256, 144, kGroups(16))],
  [13, type("Q5_K", 256, 176, kGroups(48, 16))],
  [14, type("Q6_K", 256, 210, q6k)],
  [20, type("IQ4_NL", 32, 18, halvesOf32(2, byTable(IQ4)))],
  [23, type("IQ4_XS", 256, 136, iq4xs)],
  [
    30,
    type(
      "BF16",
      1,
      2,
      each((bytes, at) => fromBits(u16(bytes, at) << 16)),
    ),
  ],
  [39, type("MXFP4", 32, 17, halvesOf32(1, fp4Scale))],
]);

/** Names of the types that are not read, for their refusal. */
export const OTHER_GGML_TYPES: ReadonlyMap<number, string> = new Map([
  [4, "Q4_2, which was removed from the format"],
  [5, "Q4_3, which was removed from the format"],
  [9, "Q8_1"],
  [15, "Q8_K"],
  [16, "IQ2_XXS"],
  [17, "IQ2_XS"],
  [18, "IQ3_XXS"],
  [19, "IQ1_S"],
  [21, "IQ3_S"],
  [22, "IQ2_S"],
  [24, "I8"],
  [25, "I16"],
  [26, "I32"],
  [27, "I64"],
  [28, "F64"],
  [29, "IQ1_M"],
  [34, "TQ1_0"],
  [35, "TQ2_0"],
  [40, "NVFP4"],
  [41, "Q1_0"],
]);
