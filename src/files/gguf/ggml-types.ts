// The types in which GGUF files store weights, and how each one's blocks become integers with scales. ggml defines them; d, m and
// dMin are halves. Weights come four at a time, as the bytes of a word: "halves of 32" keep weights 4 j to 4 j + 3 in the low
// halves of word j, and weights 16 more in its high halves.

import { packed, zeroRows, type PackedRows, type Packing } from "../packing.ts";
import type { TensorDtype } from "../tensor.ts";

/** How blocks are stored. Offsets are of bytes in a block. */
interface BlockForm {
  readonly packing: Packing;
  readonly blockBytes: number;
  readonly d: number;
  readonly m?: number;
  /** Writes a block's integers to `words[to]` and on. */
  readonly integers: (view: DataView, at: number, words: Uint32Array, to: number) => void;
  /** Writes a block's scales, and its minimums if it has any, to [to] and on. */
  readonly scales?: (view: DataView, at: number, scales: Int8Array, minimums: Uint8Array, to: number) => void;
}

export interface GgmlType {
  readonly name: string;
  /** Weights of a block; rows are whole blocks. */
  readonly blockWeights: number;
  readonly blockBytes: number;
  /** Plain floats, or blocks of integers. */
  readonly form: TensorDtype | BlockForm;
}

/** Returns the integers and scales of whole blocks. */
export function readBlocks({ packing, blockBytes, d, m, integers, scales }: BlockForm, bytes: Uint8Array): PackedRows {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const { block, group, floats } = packing;
  const numBlocks = bytes.length / blockBytes;
  const rows = zeroRows(packing, numBlocks * block);
  const words = new Uint32Array(rows.integers.buffer);
  const none = new Uint8Array();
  for (let i = 0, at = 0; i < numBlocks; i++, at += blockBytes) {
    // MXFP4's floats are exponents. Those below 2 make subnormal ones.
    rows.d[i] = floats === "half" ? view.getUint16(at + d, true) : 2 ** (view.getUint8(at + d) - 128);
    if (rows.m && m !== undefined) rows.m[i] = view.getUint16(at + m, true);
    integers(view, at, words, (i * block) / 4);
    if (rows.scales) scales?.(view, at, rows.scales, rows.minimums ?? none, (i * block) / group);
  }
  return rows;
}

const LOW = 0x0f0f0f0f;
const word = (view: DataView, at: number): number => view.getUint32(at, true);
/** Bit i of an index as 16 in byte i. */
const FIFTH_BITS = Uint32Array.from({ length: 16 }, (_, bits) =>
  [0, 1, 2, 3].reduce((sum, i) => sum + (((bits >> i) & 1) << 4) * 2 ** (8 * i), 0),
);

/** Halves of 32, with a fifth bit of each weight if there are `highBits`. */
function halvesOf32(quants: number, highBits?: number): BlockForm["integers"] {
  return (view, at, words, to) => {
    const high = highBits === undefined ? 0 : word(view, at + highBits);
    for (let j = 0; j < 4; j++) {
      const both = word(view, at + quants + 4 * j);
      words[to + j] = (both & LOW) | (FIFTH_BITS[(high >>> (4 * j)) & 15] ?? 0);
      words[to + 4 + j] = ((both >>> 4) & LOW) | (FIFTH_BITS[(high >>> (4 * j + 16)) & 15] ?? 0);
    }
  };
}

const q80: BlockForm["integers"] = (view, at, words, to) => {
  for (let j = 0; j < 8; j++) words[to + j] = word(view, at + 2 + 4 * j) ^ 0x80808080;
};

/** Q4_K, and Q5_K with its fifth bits: 256 weights in eight groups of 32, two in the halves of 32 bytes. */
function kGroups(quants: number, highBits?: number): BlockForm["integers"] {
  return (view, at, words, to) => {
    for (let j = 0; j < 8; j++) {
      const high = highBits === undefined ? 0 : word(view, at + highBits + 4 * j);
      for (let pair = 0; pair < 4; pair++) {
        const both = word(view, at + quants + 32 * pair + 4 * j);
        const first = to + 16 * pair + j;
        words[first] = (both & LOW) | (((high >>> (2 * pair)) & 0x01010101) << 4);
        words[first + 8] = ((both >>> 4) & LOW) | (((high >>> (2 * pair + 1)) & 0x01010101) << 4);
      }
    }
  };
}

/** Twelve bytes hold eight scales and minimums, in 6 bits. */
const kScales: BlockForm["scales"] = (view, at, scales, minimums, to) => {
  for (let i = 0; i < 4; i++) {
    const [a, b, c] = [view.getUint8(at + 4 + i), view.getUint8(at + 8 + i), view.getUint8(at + 12 + i)];
    scales[to + i] = a & 63;
    minimums[to + i] = b & 63;
    scales[to + 4 + i] = (c & 15) | ((a >> 6) << 4);
    minimums[to + 4 + i] = (c >> 4) | ((b >> 6) << 4);
  }
};

/** Two bits of each of 256 weights, and the third bits of Q3_K: words 8 h + j have weights 128 h + 32 k + 4 j and on. */
function twoBits(quants: number, highBits?: number): BlockForm["integers"] {
  return (view, at, words, to) => {
    for (let j = 0; j < 8; j++) {
      const high = highBits === undefined ? 0 : word(view, at + highBits + 4 * j);
      for (let h = 0; h < 2; h++) {
        const four = word(view, at + quants + 32 * h + 4 * j);
        for (let k = 0; k < 4; k++) {
          words[to + 32 * h + 8 * k + j] =
            ((four >>> (2 * k)) & 0x03030303) | (((high >>> (4 * h + k)) & 0x01010101) << 2);
        }
      }
    }
  };
}

const q2Scales: BlockForm["scales"] = (view, at, scales, minimums, to) => {
  for (let i = 0; i < 16; i++) {
    const both = view.getUint8(at + i);
    scales[to + i] = both & 15;
    minimums[to + i] = both >> 4;
  }
};

const q3Scales: BlockForm["scales"] = (view, at, scales, _, to) => {
  for (let i = 0; i < 16; i++) {
    const low = view.getUint8(at + 96 + (i & 7)) >> (i < 8 ? 0 : 4);
    const top = view.getUint8(at + 104 + (i & 3)) >> (2 * (i >> 2));
    scales[to + i] = ((low & 15) | ((top & 3) << 4)) - 32;
  }
};

const q6: BlockForm["integers"] = (view, at, words, to) => {
  for (let h = 0; h < 2; h++) {
    for (let j = 0; j < 8; j++) {
      const [a, b] = [word(view, at + 64 * h + 4 * j), word(view, at + 64 * h + 32 + 4 * j)];
      const top = word(view, at + 128 + 32 * h + 4 * j);
      const first = to + 32 * h + j;
      words[first] = (a & LOW) | ((top & 0x03030303) << 4);
      words[first + 8] = (b & LOW) | (((top >>> 2) & 0x03030303) << 4);
      words[first + 16] = ((a >>> 4) & LOW) | (((top >>> 4) & 0x03030303) << 4);
      words[first + 24] = ((b >>> 4) & LOW) | (((top >>> 6) & 0x03030303) << 4);
    }
  }
};

const q6Scales: BlockForm["scales"] = (view, at, scales, _, to) => {
  for (let i = 0; i < 16; i++) scales[to + i] = view.getInt8(at + 192 + i);
};

const iq4Scales: BlockForm["scales"] = (view, at, scales, _, to) => {
  const top = view.getUint16(at + 2, true);
  for (let i = 0; i < 8; i++) {
    const low = view.getUint8(at + 4 + (i >> 1)) >> (4 * (i & 1));
    scales[to + i] = ((low & 15) | (((top >> (2 * i)) & 3) << 4)) - 32;
  }
};

const iq4 = halvesOf32(8);
const iq4xs: BlockForm["integers"] = (view, at, words, to) => {
  for (let i = 0; i < 8; i++) iq4(view, at + 16 * i, words, to + 8 * i);
};

const MINIMUM = { hasMinimum: true } as const;
const K = { block: 256 } as const;
const K_MINIMUM = { ...K, ...MINIMUM };

const floats = (dtype: TensorDtype, blockBytes: number): GgmlType => ({
  name: dtype,
  blockWeights: 1,
  blockBytes,
  form: dtype,
});
const blocks = (
  name: string,
  blockBytes: number,
  packing: Packing,
  form: Omit<BlockForm, "packing" | "blockBytes">,
): GgmlType => ({ name, blockWeights: packing.block, blockBytes, form: { packing, blockBytes, ...form } });

export const Q8_0 = blocks("Q8_0", 34, packed(8, 128, 32), { d: 0, integers: q80 });

/** The types that are read, by their ids. */
export const GGML_TYPES: ReadonlyMap<number, GgmlType> = new Map([
  [0, floats("F32", 4)],
  [1, floats("F16", 2)],
  [2, blocks("Q4_0", 18, packed(4, 8, 32), { d: 0, integers: halvesOf32(2) })],
  [3, blocks("Q4_1", 20, packed(4, 0, 32, MINIMUM), { d: 0, m: 2, integers: halvesOf32(4) })],
  [6, blocks("Q5_0", 22, packed(5, 16, 32), { d: 0, integers: halvesOf32(6, 2) })],
  [7, blocks("Q5_1", 24, packed(5, 0, 32, MINIMUM), { d: 0, m: 2, integers: halvesOf32(8, 4) })],
  [8, Q8_0],
  [10, blocks("Q2_K", 84, packed(4, 0, 16, K_MINIMUM), { d: 80, m: 82, integers: twoBits(16), scales: q2Scales })],
  [11, blocks("Q3_K", 110, packed(4, 4, 16, K), { d: 108, integers: twoBits(32, 0), scales: q3Scales })],
  [12, blocks("Q4_K", 144, packed(4, 0, 32, K_MINIMUM), { d: 0, m: 2, integers: kGroups(16), scales: kScales })],
  [13, blocks("Q5_K", 176, packed(5, 0, 32, K_MINIMUM), { d: 0, m: 2, integers: kGroups(48, 16), scales: kScales })],
  [14, blocks("Q6_K", 210, packed(6, 32, 16, K), { d: 208, integers: q6, scales: q6Scales })],
  [20, blocks("IQ4_NL", 18, packed(4, 128, 32, { table: "iq4" }), { d: 0, integers: halvesOf32(2) })],
  [23, blocks("IQ4_XS", 136, packed(4, 128, 32, { ...K, table: "iq4" }), { d: 0, integers: iq4xs, scales: iq4Scales })],
  [30, floats("BF16", 2)],
  [39, blocks("MXFP4", 17, packed(4, 16, 32, { floats: "float", table: "fp4" }), { d: 0, integers: halvesOf32(1) })],
]);

/** Returns the type of most weights of a quantisation: Q4_K of "Q4_K_M". Undefined: it isn't read. */
export function mainTypeOf(quantisation: string): GgmlType | undefined {
  if ([...OTHER_GGML_TYPES.values()].includes(quantisation)) return undefined;
  const name = `${quantisation.replace(/^UD-/, "").replace(/^FP/, "F")}_`;
  return [...GGML_TYPES.values()].find((type) => name.startsWith(`${type.name}_`));
}

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
  [31, "Q4_0_4_4"],
  [32, "Q4_0_4_8"],
  [33, "Q4_0_8_8"],
  [34, "TQ1_0"],
  [35, "TQ2_0"],
  [36, "IQ4_NL_4_4"],
  [37, "IQ4_NL_4_8"],
  [38, "IQ4_NL_8_8"],
  [40, "NVFP4"],
  [41, "Q1_0"],
]);
