// Groups of 32 weights of a row as integers with a common scale: the very same values in every engine's format.

import { float16ToFloat32, float32ToFloat16 } from "../../src/files/half.ts";

/** How a GGUF file's matrices are kept that an ONNX file can have with the same values: bits of a weight, and ggml's number. */
export const QUANTISATIONS = {
  Q8_0: { bits: 8, ggmlType: 8, onnx: "q8" },
  Q4_0: { bits: 4, ggmlType: 2, onnx: "q4" },
} as const;
export type Quantisation = keyof typeof QUANTISATIONS;

export const GROUP = 32;

/** value = (integer - 2^(bits - 1)) * scale, a half. */
export interface Quantised {
  readonly integers: Uint8Array;
  readonly scales: Float32Array;
}

/** Quantises rows of whole groups, as ggml does: with 4 bits the value farthest from zero becomes -8, with 8 bits 127 or -127. */
export function quantise(values: Float32Array, type: Quantisation): Quantised {
  const { bits } = QUANTISATIONS[type];
  const centre = 2 ** (bits - 1);
  const extremes = Float32Array.from({ length: values.length / GROUP }, (_, i) =>
    values.subarray(i * GROUP, (i + 1) * GROUP).reduce((most, one) => (Math.abs(one) > Math.abs(most) ? one : most), 0),
  );
  const scales = float16ToFloat32(
    float32ToFloat16(extremes.map((extreme) => (bits === 8 ? Math.abs(extreme) / 127 : extreme / -8))),
  );
  // `Uint8Array.from(values, …)` would list them first: gigabytes, for an embedding of 150 million weights.
  const integers = new Uint8Array(values.length);
  for (const [i, value] of values.entries()) {
    const scale = scales[Math.floor(i / GROUP)] ?? 0;
    const rounded = scale === 0 ? 0 : Math.round(value / scale);
    integers[i] = Math.min(2 ** bits - 1, Math.max(0, rounded + centre));
  }
  return { integers, scales };
}

export function valuesOf({ integers, scales }: Quantised, type: Quantisation): Float32Array {
  const centre = 2 ** (QUANTISATIONS[type].bits - 1);
  return new Float32Array(integers).map((integer, i) => (integer - centre) * (scales[Math.floor(i / GROUP)] ?? 0));
}

/** Returns ggml's blocks: a scale, and the integers; of 4 bits those of the first half are the bytes' low ones. */
export function toBlocks({ integers, scales }: Quantised, type: Quantisation): Uint8Array {
  const { bits } = QUANTISATIONS[type];
  const halves = float32ToFloat16(scales);
  const blockBytes = 2 + (GROUP * bits) / 8;
  const blocks = new Uint8Array(scales.length * blockBytes);
  const view = new DataView(blocks.buffer);
  for (let i = 0; i < scales.length; i++) {
    const at = i * blockBytes;
    view.setUint16(at, halves[i] ?? 0, true);
    for (let j = 0; j < blockBytes - 2; j++) {
      const [low = 0, high = 0] = [integers[i * GROUP + j], integers[i * GROUP + j + 16]];
      blocks[at + 2 + j] = bits === 8 ? low - 128 : low | (high << 4);
    }
  }
  return blocks;
}

/** Returns the integers as MatMulNBits reads them: of 4 bits, those of even columns are the bytes' low ones. */
export function toOnnxBytes({ integers }: Quantised, type: Quantisation): Uint8Array {
  if (QUANTISATIONS[type].bits === 8) return integers;
  return Uint8Array.from(
    { length: integers.length / 2 },
    (_, i) => (integers[2 * i] ?? 0) | ((integers[2 * i + 1] ?? 0) << 4),
  );
}
