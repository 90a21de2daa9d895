// Reads of a packed weight matrix `w` [K, N], N padded to 4 * N4. See README.md for the two layouts.

override WEIGHTS_F16: bool;

struct Weights4x4 {
  k0: vec4<f32>,
  k1: vec4<f32>,
  k2: vec4<f32>,
  k3: vec4<f32>,
}

fn unpack_row(low: u32, high: u32) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(low), unpack2x16float(high));
}

// w[4 k4 .. 4 k4 + 3, 4 n4 .. 4 n4 + 3]
fn weights_4x4(k4: u32, n4: u32) -> Weights4x4 {
  if (WEIGHTS_F16) {
    let a = w[(2u * k4) * N4 + n4];
    let b = w[(2u * k4 + 1u) * N4 + n4];
    return Weights4x4(unpack_row(a.x, a.y), unpack_row(a.z, a.w), unpack_row(b.x, b.y), unpack_row(b.z, b.w));
  }
  let base = 4u * k4 * N4 + n4;
  return Weights4x4(
    bitcast<vec4<f32>>(w[base]),
    bitcast<vec4<f32>>(w[base + N4]),
    bitcast<vec4<f32>>(w[base + 2u * N4]),
    bitcast<vec4<f32>>(w[base + 3u * N4]),
  );
}

// w[k, n]
fn weight(k: u32, n: u32) -> f32 {
  if (WEIGHTS_F16) {
    let pair = w[(k >> 1u) * N4 + (n >> 2u)];
    let halves = unpack2x16float(pair[2u * (k & 1u) + ((n >> 1u) & 1u)]);
    return halves[n & 1u];
  }
  return bitcast<f32>(w[k * N4 + (n >> 2u)][n & 3u]);
}
