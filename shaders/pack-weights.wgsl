// Packs a band of a matrix from its file's layout into the kernels' layout (README.md): pads, transposes, rounds or
// quantises it. One lane packs one chunk of 32 values along K of four columns.
//
// All adapters give the same bits: halves are converted with integer arithmetic, and quotients are corrected by exact
// remainders.

const F32 = 0u;
const F16 = 1u;
const BF16 = 2u;
const Q8 = 2u;
const Q4 = 3u;

override LANES: u32;
override SOURCE_DTYPE: u32; // F32, F16 or BF16
override WEIGHTS_DTYPE: u32; // F32, F16, Q8 or Q4

struct Band {
  k: u32, // sizes without padding
  n: u32,
  first_row: u32, // of the band in the file's matrix: a multiple of 32
  num_rows: u32,
  is_transposed: u32, // the file has [N, K], so the band has rows of N instead of K
}

@group(0) @binding(0) var<storage, read> source: array<u32>; // the band's rows, without gaps
@group(0) @binding(1) var<storage, read_write> packed: array<u32>;
@group(0) @binding(2) var<uniform> band: Band;

@compute @workgroup_size(LANES)
fn pack_weights(@builtin(global_invocation_id) id: vec3<u32>) {
  let num_n4 = 8u * ((band.n + 31u) / 32u);
  let first = band.first_row / 4u;
  let is_transposed = band.is_transposed != 0u;
  let n4 = id.x + select(0u, first, is_transposed);
  let chunk = id.y + select(first / 8u, 0u, is_transposed);
  if (n4 >= num_n4) {
    return;
  }
  switch WEIGHTS_DTYPE {
    case F16: {
      for (var pair = 16u * chunk; pair < 16u * chunk + 16u; pair++) {
        let at = 4u * (pair * num_n4 + n4);
        for (var i = 0u; i < 4u; i++) {
          let k = 2u * pair + i / 2u;
          let n = 4u * n4 + 2u * (i & 1u);
          packed[at + i] = half_at(k, n) | (half_at(k, n + 1u) << 16u);
        }
      }
    }
    case Q8: { quantise(chunk, n4, num_n4, 8u); }
    case Q4: { quantise(chunk, n4, num_n4, 4u); }
    default: {
      for (var k = 32u * chunk; k < 32u * chunk + 32u; k++) {
        for (var i = 0u; i < 4u; i++) {
          packed[4u * (k * num_n4 + n4) + i] = bitcast<u32>(value_at(k, 4u * n4 + i));
        }
      }
    }
  }
}

fn quantise(chunk: u32, n4: u32, num_n4: u32, bits: u32) {
  var extremes = vec4(0.0);
  for (var k = 32u * chunk; k < 32u * chunk + 32u; k++) {
    let values = values_at(k, n4);
    extremes = select(extremes, values, abs(values) > abs(extremes));
  }
  let rounded = halves(extremes);
  let low = rounded.x | (rounded.y << 16u);
  let high = rounded.z | (rounded.w << 16u);
  let limit = f32(1u << (bits - 1u));
  let scale = vec4<f32>(unpack2x16float(low), unpack2x16float(high)) / -limit;

  let words_a_chunk = 4u * bits; // of 4 columns
  for (var word = 0u; word < words_a_chunk; word++) {
    let rows_a_word = 8u / bits;
    var integers = 0u;
    for (var row = 0u; row < rows_a_word; row++) {
      let k = 32u * chunk + word * rows_a_word + row;
      let quotients = vec4<u32>(quotient(values_at(k, n4), scale, limit)) & vec4((1u << bits) - 1u);
      let shifts = bits * (4u * row + vec4(0u, 1u, 2u, 3u));
      let placed = quotients << shifts;
      integers |= placed.x | placed.y | placed.z | placed.w;
    }
    packed[4u * ((chunk * bits + word / 4u) * num_n4 + n4) + word % 4u] = integers;
  }
  let num_chunks = (band.k + 31u) / 32u;
  let at = 4u * ((num_chunks * bits + chunk / 2u) * num_n4 + n4) + 2u * (chunk & 1u);
  packed[at] = low;
  packed[at + 1u] = high;
}

// value / scale, rounded to nearest even and clamped to [-limit, limit - 1].
fn quotient(value: vec4<f32>, scale: vec4<f32>, limit: f32) -> vec4<i32> {
  let divisor = select(scale, vec4(1.0), scale == vec4(0.0));
  var q = clamp(round(value / divisor), vec4(-limit), vec4(limit));
  // WGSL's division may be off by an ulp, and so q by one. q times scale has 8 + 11 bits, so this remainder is exact.
  let rest = value - q * divisor;
  let twice = 2.0 * abs(rest);
  let is_odd = (vec4<i32>(q) & vec4(1)) == vec4(1);
  let is_off = (twice > abs(divisor)) | ((twice == abs(divisor)) & is_odd);
  q += select(vec4(0.0), sign(rest) * sign(divisor), is_off);
  return vec4<i32>(clamp(q, vec4(-limit), vec4(limit - 1.0)));
}

fn values_at(k: u32, n4: u32) -> vec4<f32> {
  let n = 4u * n4;
  return vec4(value_at(k, n), value_at(k, n + 1u), value_at(k, n + 2u), value_at(k, n + 3u));
}

fn value_at(k: u32, n: u32) -> f32 {
  switch SOURCE_DTYPE {
    case F16: { return unpack2x16float(bits_at(k, n)).x; }
    case BF16: { return bitcast<f32>(bits_at(k, n) << 16u); }
    default: { return bitcast<f32>(bits_at(k, n)); }
  }
}

fn half_at(k: u32, n: u32) -> u32 {
  if (SOURCE_DTYPE == F16) {
    return bits_at(k, n);
  }
  return halves(vec4(value_at(k, n))).x;
}

// Returns an element of the source; zero in the padding.
fn bits_at(k: u32, n: u32) -> u32 {
  let is_transposed = band.is_transposed != 0u;
  let row = select(k, n, is_transposed) - band.first_row;
  if (k >= band.k || n >= band.n || row >= band.num_rows) {
    return 0u;
  }
  let index = row * select(band.n, band.k, is_transposed) + select(n, k, is_transposed);
  if (SOURCE_DTYPE == F32) {
    return source[index];
  }
  return (source[index / 2u] >> (16u * (index & 1u))) & 0xffffu;
}
