// Conversions of 16-bit floats, which checkpoints and the packed weights store.
//
//   F16   s eeeee mmmmmmmmmm          BF16  s eeeeeeee mmmmmmm: the upper half of an F32

const TWO_POW_16 = 0x47800000;
const INFINITY = 0x7f800000;
/** The mantissa of NaN, as browsers make it. */
const QUIET = 0x400000;
const SMALLEST_NORMAL_HALF = 0x38800000;
/** Difference of the exponent biases (127 - 15), at the exponent's position. */
const REBIAS = 0x38000000;

/** Newer browsers convert halves themselves, three times as fast as a loop that is not optimised yet. Node 20 doesn't. */
const { Float16Array: Halves } = globalThis as {
  readonly Float16Array?: new (buffer: ArrayBufferLike, byteOffset: number, length: number) => ArrayLike<number>;
};

/** Converts halves (as bits) to floats, exactly. */
export function float16ToFloat32(halves: Uint16Array): Float32Array<ArrayBuffer> {
  const floats = new Float32Array(halves.length);
  if (Halves) {
    floats.set(new Halves(halves.buffer, halves.byteOffset, halves.length));
    return floats;
  }
  const bits = new Uint32Array(floats.buffer);
  for (let i = 0; i < halves.length; i++) {
    const half = halves[i] as number;
    const sign = (half & 0x8000) << 16;
    const magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00) bits[i] = sign | INFINITY | (magnitude === 0x7c00 ? 0 : QUIET);
    else if (magnitude >= 0x400) bits[i] = sign | (magnitude * 0x2000 + REBIAS);
    else floats[i] = (sign === 0 ? 1 : -1) * magnitude * 2 ** -24;
  }
  return floats;
}

/** Converts bfloat16s (as bits) to floats, exactly. */
export function bfloat16ToFloat32(halves: Uint16Array): Float32Array<ArrayBuffer> {
  const bits = new Uint32Array(halves.length);
  for (let i = 0; i < halves.length; i++) bits[i] = (halves[i] as number) << 16;
  return new Float32Array(bits.buffer);
}

function halfBits(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > INFINITY) return sign | 0x7e00;
  if (magnitude >= TWO_POW_16) return sign | 0x7c00;
  if (magnitude >= SMALLEST_NORMAL_HALF) {
    // Adding just under half of the last kept bit, plus that bit, sends ties to even. A carry correctly raises the exponent.
    return sign | ((magnitude - REBIAS + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
  }
  const shift = 126 - (magnitude >>> 23);
  if (shift > 24) return sign; // below half of the smallest subnormal
  const mantissa = (magnitude & 0x7fffff) | 0x800000;
  const kept = mantissa >>> shift;
  const rest = mantissa & ((1 << shift) - 1);
  const tie = 1 << (shift - 1);
  return sign | (rest > tie || (rest === tie && (kept & 1) === 1) ? kept + 1 : kept);
}

/** Converts floats to halves (as bits). Rounds to nearest, ties to even; values that round beyond 65504 become infinity. */
export function float32ToFloat16(floats: Float32Array): Uint16Array<ArrayBuffer> {
  const bits = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
  const halves = new Uint16Array(floats.length);
  for (let i = 0; i < bits.length; i++) halves[i] = halfBits(bits[i] as number);
  return halves;
}
