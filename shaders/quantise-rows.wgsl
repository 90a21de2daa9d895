// y = the rows of x in integers of 8 bits, for products with packed weights (matmul-integer.wgsl)      x: [rows, K] f32
//
// A group is a chunk of 32 values along K. Its scale is the largest magnitude times the f32 nearest to 1/127, its significand
// then rounded up to 12 bits. An integer is value / scale rounded to the nearest, ties to even: -127 to 127. A scale of zero or
// a subnormal one gives zeros; the scale of a group with NaN or infinity is NaN. All but one product is arithmetic of integers:
// so these are the CPU's (src/backends/cpu/kernels/quantise-rows.ts).
//
//   y   [row][chunk] three elements:   32 integers, a byte each, lowest first
//                                      the scale's bits, the sums of the first 16 integers, of the other 16, and of all

override K4: u32; // K, padded to a multiple of 32, over 4
override LANES: u32;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<u32>>;

const DROPPED_BITS = 0xfffu; // of a significand
const HIDDEN_BIT = 0x800000u; // of a significand; also the smallest normal number's bits
const INFINITE = 0x7f800000u;

@compute @workgroup_size(LANES)
fn quantise_rows(@builtin(global_invocation_id) id: vec3<u32>) {
  let chunk = id.y * (K4 / 8u) + id.x;
  if (id.x >= K4 / 8u) {
    return;
  }
  var largest = vec4(0u);
  for (var i = 0u; i < 8u; i++) {
    largest = max(largest, bitcast<vec4<u32>>(x[8u * chunk + i]) & vec4(0x7fffffffu));
  }
  let most = max(max(largest.x, largest.y), max(largest.z, largest.w));
  let bits = bitcast<u32>(bitcast<f32>(most) * 0.007874015718698502); // the f32 nearest to 1/127
  let rounded = (bits + DROPPED_BITS) & ~DROPPED_BITS;
  let scale = select(rounded, 0u, bits < HIDDEN_BIT);
  var words: array<u32, 8>;
  var sums = vec2(0i);
  for (var i = 0u; i < 8u; i++) {
    let integers = quotients(bitcast<vec4<u32>>(x[8u * chunk + i]), scale);
    let bytes = vec4<u32>(integers & vec4(0xff)) << vec4(0u, 8u, 16u, 24u);
    words[i] = bytes.x | bytes.y | bytes.z | bytes.w;
    sums[i / 4u] += integers.x + integers.y + integers.z + integers.w;
  }
  let told = select(scale, INFINITE + 1u, most >= INFINITE);
  y[3u * chunk] = vec4(words[0], words[1], words[2], words[3]);
  y[3u * chunk + 1u] = vec4(words[4], words[5], words[6], words[7]);
  y[3u * chunk + 2u] = vec4(told, vec3<u32>(vec3(sums, sums.x + sums.y)));
}

// Returns values / scale, all as bits of f32, rounded to the nearest, ties to even. A value is at most 127 times the scale.
fn quotients(values: vec4<u32>, scale: u32) -> vec4<i32> {
  let magnitudes = values & vec4(0x7fffffffu);
  let is_subnormal = magnitudes < vec4(HIDDEN_BIT);
  let significands = (magnitudes & vec4(HIDDEN_BIT - 1u)) | select(vec4(HIDDEN_BIT), vec4(0u), is_subnormal);
  let exponents = max(vec4<i32>(magnitudes >> vec4(23u)), vec4(1)) - vec4(i32(scale >> 23u));
  let dividends = significands << vec4<u32>(clamp(exponents, vec4(0), vec4(7)));
  // Two binades below the scale, all are less than half of it.
  let divisors = vec4((scale & (HIDDEN_BIT - 1u)) | HIDDEN_BIT) << vec4<u32>(clamp(-exponents, vec4(0), vec4(2)));
  let whole = dividends / divisors;
  let twice = 2u * (dividends - whole * divisors);
  let is_up = (twice > divisors) | ((twice == divisors) & ((whole & vec4(1u)) == vec4(1u)));
  let integers = vec4<i32>(whole + vec4<u32>(is_up));
  return select(vec4(0), select(integers, -integers, values != magnitudes), vec4(scale != 0u));
}
