// Reads of a packed weight matrix `w` [K, N], K = 4 K4 and N = 4 N4 with their padding. See README.md for the layouts.

const F32 = 0u;
const F16 = 1u;
const Q8 = 2u;
const Q4 = 3u;

override WEIGHTS_DTYPE: u32;

struct Weights4x4 {
  k0: vec4<f32>,
  k1: vec4<f32>,
  k2: vec4<f32>,
  k3: vec4<f32>,
}

// w[4 k4 .. 4 k4 + 3, 4 n4 .. 4 n4 + 3]; integers if quantised, which chunk_scale turns into weights.
fn weights_4x4(k4: u32, n4: u32) -> Weights4x4 {
  switch WEIGHTS_DTYPE {
    case F16: {
      let a = w[(2u * k4) * N4 + n4];
      let b = w[(2u * k4 + 1u) * N4 + n4];
      return Weights4x4(unpack_halves(a.xy), unpack_halves(a.zw), unpack_halves(b.xy), unpack_halves(b.zw));
    }
    case Q8: {
      let a = w[k4 * N4 + n4];
      return Weights4x4(
        vec4<f32>(unpack4xI8(a.x)),
        vec4<f32>(unpack4xI8(a.y)),
        vec4<f32>(unpack4xI8(a.z)),
        vec4<f32>(unpack4xI8(a.w)),
      );
    }
    case Q4: {
      let a = w[(k4 >> 1u) * N4 + n4];
      let b = select(a.xy, a.zw, (k4 & 1u) == 1u);
      return Weights4x4(low_nibbles(b.x), high_nibbles(b.x), low_nibbles(b.y), high_nibbles(b.y));
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

// Returns the factors of the sums of chunk k4 / 8 for columns 4 n4 .. 4 n4 + 3; `one` if the weights are not quantised.
fn chunk_scale(k4: u32, n4: u32, one: f32) -> vec4<f32> {
  if (WEIGHTS_DTYPE == F32 || WEIGHTS_DTYPE == F16) {
    return vec4(one);
  }
  let first = select(K4 / 2u, K4, WEIGHTS_DTYPE == Q8) * N4;
  let group = k4 >> 3u;
  let pair = w[first + (group >> 1u) * N4 + n4];
  let extremes = unpack_halves(select(pair.xy, pair.zw, (group & 1u) == 1u));
  return extremes * select(-1.0 / 8.0, -1.0 / 128.0, WEIGHTS_DTYPE == Q8);
}

// w[k, 4 n4 .. 4 n4 + 3], with fewer loads for a kernel that takes one k at a time.
fn weights_1x4(k: u32, n4: u32) -> vec4<f32> {
  switch WEIGHTS_DTYPE {
    case F16: {
      let a = w[(k >> 1u) * N4 + n4];
      return unpack_halves(select(a.xy, a.zw, (k & 1u) == 1u));
    }
    case Q8: { return vec4<f32>(unpack4xI8(w[(k >> 2u) * N4 + n4][k & 3u])); }
    case Q4: {
      let word = w[(k >> 3u) * N4 + n4][(k >> 1u) & 3u];
      return select(low_nibbles(word), high_nibbles(word), (k & 1u) == 1u);
    }
    default: { return bitcast<vec4<f32>>(w[k * N4 + n4]); }
  }
}

// w[k, n]
fn weight(k: u32, n: u32) -> f32 {
  return (weights_1x4(k, n >> 2u) * chunk_scale(k >> 2u, n >> 2u, 1.0))[n & 3u];
}

fn unpack_halves(words: vec2<u32>) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(words.x), unpack2x16float(words.y));
}

fn low_nibbles(word: u32) -> vec4<f32> {
  return vec4<f32>(bitcast<vec4<i32>>(vec4(word) << vec4(28u, 24u, 20u, 16u)) >> vec4(28u));
}

fn high_nibbles(word: u32) -> vec4<f32> {
  return vec4<f32>(bitcast<vec4<i32>>(vec4(word) << vec4(12u, 8u, 4u, 0u)) >> vec4(28u));
}
