// Reads of a weight matrix `w` [K, N], K = 4 K4 and N = 4 N4 with their padding. See README.md for the layouts.
//
// A packed weight is (q - CENTRE) * scale + minimum. Only that addition may round, so the weights are the same numbers on all
// adapters, and the same as if they were stored as f32.

// Nibbles whose scale is a half float, or that times a power of two.
const HAS_PLAIN_NIBBLES = LAYOUT == PACKED && BITS == 4u && FLOAT_BITS == 16u && !(HAS_TABLE || HAS_CODES || HAS_MINIMUM);

struct Weights4x4 {
  k0: vec4<f32>,
  k1: vec4<f32>,
  k2: vec4<f32>,
  k3: vec4<f32>,
}

// What a chunk of 32 values of k shares: its first 16, and its last 16.
struct Scales {
  scale: vec4<f32>,
  minimum: vec4<f32>,
  last_scale: vec4<f32>,
  last_minimum: vec4<f32>,
}

// Chunks are named by their first value of k over 4, and places in them by a number of their own: in a loop that is written
// out compilers know the latter, and so the shifts, and that two places are in one element.

// Returns the scales of a chunk for columns 4 n4 .. 4 n4 + 3.
fn chunk_scales(chunk: u32, n4: u32) -> Scales {
  if (LAYOUT != PACKED) {
    return Scales();
  }
  let k = 4u * chunk;
  let scale = group_scale(k, n4);
  let minimum = group_minimum(k, n4);
  if (GROUP > 16u) {
    return Scales(scale, minimum, scale, minimum);
  }
  return Scales(scale, minimum, group_scale(k + 16u, n4), group_minimum(k + 16u, n4));
}

fn group_scale(k: u32, n4: u32) -> vec4<f32> {
  let d = block_floats(k / BLOCK * PER_GROUP, n4);
  if (HAS_CODES) {
    return d * vec4<f32>(signed_bytes(codes(k / GROUP * PER_GROUP, n4)));
  }
  return d * FACTOR;
}

fn group_minimum(k: u32, n4: u32) -> vec4<f32> {
  if (!HAS_MINIMUM) {
    return vec4(0.0);
  }
  let m = block_floats(k / BLOCK * PER_GROUP + 1u, n4);
  if (HAS_CODES) {
    return -m * vec4<f32>((vec4(codes(k / GROUP * PER_GROUP + 1u, n4)) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu));
  }
  return m;
}

fn codes(i: u32, n4: u32) -> u32 {
  return w[(codes_row(K4) + i / 4u) * N4 + n4][i % 4u];
}

// As unpack4xI8, which not every compiler has.
fn signed_bytes(word: u32) -> vec4<i32> {
  return vec4<i32>(vec4(word) << vec4(24u, 16u, 8u, 0u)) >> vec4(24u);
}

fn block_floats(i: u32, n4: u32) -> vec4<f32> {
  if (FLOAT_BITS == 32u) {
    return bitcast<vec4<f32>>(w[(floats_row(K4) + i) * N4 + n4]);
  }
  let two = w[(floats_row(K4) + i / 2u) * N4 + n4];
  return widened(select(two.xy, two.zw, i % 2u == 1u));
}

// w[4 k4 .. 4 k4 + 3, 4 n4 .. 4 n4 + 3], k4 = chunk + i
fn weights_4x4(chunk: u32, i: u32, n4: u32, scales: Scales) -> Weights4x4 {
  let k4 = chunk + i;
  switch LAYOUT {
    case F16, BF16: {
      let a = w[(2u * k4) * N4 + n4];
      let b = w[(2u * k4 + 1u) * N4 + n4];
      return Weights4x4(unpack_halves(a.xy), unpack_halves(a.zw), unpack_halves(b.xy), unpack_halves(b.zw));
    }
    case PACKED: {
      let low = integers_4x4(chunk, i, n4);
      let high = low >> vec4(16u);
      return Weights4x4(
        weights_of(first_byte(low), i, scales),
        weights_of(second_byte(low), i, scales),
        weights_of(first_byte(high), i, scales),
        weights_of(second_byte(high), i, scales),
      );
    }
    default: {
      let base = 4u * k4 * N4 + n4;
      return Weights4x4(
        bitcast<vec4<f32>>(w[base]),
        bitcast<vec4<f32>>(w[base + N4]),
        bitcast<vec4<f32>>(w[base + 2u * N4]),
        bitcast<vec4<f32>>(w[base + 3u * N4]),
      );
    }
  }
}

// As weights_4x4 of plain nibbles, but centred after the product with the scale, in one fma: fewer instructions for more registers.
// Nibbles are brought to where 2^11 plus one has its bits: that has 12 and the scale at most 11, so nothing is rounded.
fn nibbles_4x4(chunk: u32, i: u32, n4: u32, scales: Scales) -> Weights4x4 {
  let words = w[(chunk / 2u + i / 2u) * N4 + n4];
  let scale = group_scale_of(i, scales);
  let offset = scale * -(2048.0 + f32(CENTRE));
  let odd = 4u * (i % 2u);
  return Weights4x4(
    fma(with_2_11(words << vec4(12u - odd)), scale, offset),
    fma(with_2_11(words << vec4(4u - odd)), scale, offset),
    fma(with_2_11(words >> vec4(4u + odd)), scale, offset),
    fma(with_2_11(words >> vec4(12u + odd)), scale, offset),
  );
}

fn with_2_11(words: vec4<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>((words & vec4(0xf000u)) | vec4(0x45000000u));
}

// w[k, 4 n4 .. 4 n4 + 3], k = 4 chunk + i, with fewer loads for a kernel that takes one k at a time.
fn weights_1x4(chunk: u32, i: u32, n4: u32, scales: Scales) -> vec4<f32> {
  let k = 4u * chunk + i;
  switch LAYOUT {
    case F16, BF16: {
      let a = w[(k >> 1u) * N4 + n4];
      return unpack_halves(select(a.xy, a.zw, (k & 1u) == 1u));
    }
    case PACKED: {
      return weights_of(first_byte(integers_4x4(chunk, i / 4u, n4) >> vec4(8u * (i % 4u))), i / 4u, scales);
    }
    default: { return bitcast<vec4<f32>>(w[k * N4 + n4]); }
  }
}

// w[k, n]
fn weight(k: u32, n: u32) -> f32 {
  let n4 = n >> 2u;
  let chunk = 8u * (k / 32u);
  return weights_1x4(chunk, k % 32u, n4, chunk_scales(chunk, n4))[n & 3u];
}

// Returns four columns' integers of 4 k4 .. 4 k4 + 3, a byte each, lowest first.
fn integers_4x4(chunk: u32, i: u32, n4: u32) -> vec4<u32> {
  if (BITS == 8u) {
    return w[(chunk + i) * N4 + n4];
  }
  let nibbles = (w[(chunk / 2u + i / 2u) * N4 + n4] >> vec4(4u * (i % 2u))) & vec4(0x0f0f0f0fu);
  if (HAS_TABLE) {
    return looked_up(nibbles);
  }
  if (HIGH_BITS == 0u) {
    return nibbles;
  }
  let high = w[(K4 / 2u + chunk / HIGH_ROWS + i / HIGH_ROWS) * N4 + n4] >> vec4(HIGH_BITS * (i % HIGH_ROWS));
  return nibbles | ((high & vec4(HIGH_MASK)) << vec4(4u));
}

// Returns the table's values at indices, a byte each.
fn looked_up(indices: vec4<u32>) -> vec4<u32> {
  var values = vec4(0u);
  for (var i = 0u; i < 4u; i++) {
    let index = (indices >> vec4(8u * i)) & vec4(15u);
    let is_odd = (index & vec4(4u)) != vec4(0u);
    let below_8 = select(vec4(TABLE_0), vec4(TABLE_4), is_odd);
    let word = select(below_8, select(vec4(TABLE_8), vec4(TABLE_12), is_odd), index > vec4(7u));
    values |= ((word >> (8u * (index & vec4(3u)))) & vec4(0xffu)) << vec4(8u * i);
  }
  return values;
}

// Bytes less CENTRE. 2^23 + q and 2^15 + q have q's bits where these bytes have them, and many GPUs convert slowly.
fn first_byte(bytes: vec4<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>((bytes & vec4(0xffu)) | vec4(0x4b000000u)) - (8388608.0 + f32(CENTRE));
}

fn second_byte(bytes: vec4<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>((bytes & vec4(0xff00u)) | vec4(0x47000000u)) - (32768.0 + f32(CENTRE));
}

fn weights_of(centred: vec4<f32>, i: u32, scales: Scales) -> vec4<f32> {
  if (HAS_MINIMUM) {
    return fma(centred, group_scale_of(i, scales), select(scales.minimum, scales.last_minimum, is_last(i)));
  }
  return centred * group_scale_of(i, scales);
}

fn group_scale_of(i: u32, scales: Scales) -> vec4<f32> {
  return select(scales.scale, scales.last_scale, is_last(i));
}

fn is_last(i: u32) -> bool {
  return GROUP == 16u && i >= 4u;
}

fn unpack_halves(words: vec2<u32>) -> vec4<f32> {
  if (LAYOUT == BF16) {
    return bitcast<vec4<f32>>((words.xxyy << vec4(16u, 0u, 16u, 0u)) & vec4(0xffff0000u));
  }
  return from_halves(words);
}
