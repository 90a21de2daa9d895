// Packs a band of a matrix from its file's layout into the kernels' layout (README.md): pads, transposes, rounds or
// quantises it. One lane packs one chunk of 32 values along K of four columns.
//
// All adapters give the same bits: halves are converted with integer arithmetic, and quotients are corrected by exact
// remainders.

override LANES: u32;
override SOURCE: u32; // F32, F16, BF16 or PACKED: integers, a byte each, then d, m, scales and minimums

struct Band {
  k: u32, // sizes without padding
  n: u32,
  first_row: u32, // of the band in the file's matrix: a multiple of 32
  num_rows: u32,
  is_transposed: u32, // the file has [N, K], as what is packed always has, so the band has rows of N instead of K
  d: u32, // where these begin in a packed source, in words
  m: u32,
  scales: u32,
  minimums: u32,
}

@group(0) @binding(0) var<storage, read> source: array<u32>; // the band's rows, without gaps
@group(0) @binding(1) var<storage, read_write> packed: array<u32>; // zeros
@group(0) @binding(2) var<uniform> band: Band;

@compute @workgroup_size(LANES)
fn pack_weights(@builtin(global_invocation_id) id: vec3<u32>) {
  let first = band.first_row / 4u;
  let is_transposed = band.is_transposed != 0u;
  let n4 = id.x + select(0u, first, is_transposed);
  let chunk = id.y + select(first / 8u, 0u, is_transposed);
  if (n4 >= num_n4()) {
    return;
  }
  switch LAYOUT {
    case F16, BF16: {
      for (var pair = 16u * chunk; pair < 16u * chunk + 16u; pair++) {
        let even = halves_at(2u * pair, n4);
        let odd = halves_at(2u * pair + 1u, n4);
        put(pair, n4, vec4(even.xz, odd.xz) | (vec4(even.yw, odd.yw) << vec4(16u)));
      }
    }
    case PACKED: {
      if (SOURCE == PACKED) {
        for (var k = 32u * chunk; k < 32u * chunk + 32u; k += 16u) {
          put_numbers(k, n4);
        }
        put_integers(chunk, n4, vec4(0.0));
      } else {
        let d = extremes(chunk, n4);
        put_field(floats_row(num_k4()), chunk, 16u, n4, d);
        put_integers(chunk, n4, widened(d.xz | (d.yw << vec2(16u))) * FACTOR);
      }
    }
    default: {
      for (var k = 32u * chunk; k < 32u * chunk + 32u; k++) {
        put(k, n4, bitcast<vec4<u32>>(values_at(k, n4)));
      }
    }
  }
}

fn num_k4() -> u32 { return 8u * ((band.k + 31u) / 32u); }
fn num_n4() -> u32 { return 8u * ((band.n + 31u) / 32u); }

fn put(row: u32, n4: u32, element: vec4<u32>) {
  for (var i = 0u; i < 4u; i++) {
    packed[4u * (row * num_n4() + n4) + i] = element[i];
  }
}

fn put_integers(chunk: u32, n4: u32, scale: vec4<f32>) {
  if (BITS == 8u) {
    for (var k4 = 8u * chunk; k4 < 8u * chunk + 8u; k4++) {
      put(k4, n4, integers_4x4(k4, n4, scale));
    }
    return;
  }
  for (var row = 4u * chunk; row < 4u * chunk + 4u; row++) {
    let even = integers_4x4(2u * row, n4, scale) & vec4(0x0f0f0f0fu);
    put(row, n4, even | ((integers_4x4(2u * row + 1u, n4, scale) & vec4(0x0f0f0f0fu)) << vec4(4u)));
  }
  for (var row = HIGH_BITS * chunk; row < HIGH_BITS * chunk + HIGH_BITS; row++) {
    var high = vec4(0u);
    for (var i = 0u; i < HIGH_ROWS; i++) {
      high |= ((integers_4x4(HIGH_ROWS * row + i, n4, scale) >> vec4(4u)) & vec4(HIGH_MASK)) << vec4(HIGH_BITS * i);
    }
    put(num_k4() / 2u + row, n4, high);
  }
}

// Returns four columns' integers of 4 k4 .. 4 k4 + 3, a byte each, lowest first: as they are packed, or value / scale.
fn integers_4x4(k4: u32, n4: u32, scale: vec4<f32>) -> vec4<u32> {
  if (SOURCE == PACKED) {
    return fields_at(0u, k4, (band.k + 3u) / 4u, 32u, n4);
  }
  var integers = vec4(0u);
  for (var i = 0u; i < 4u; i++) {
    integers |= quotient(values_at(4u * k4 + i, n4), scale) << vec4(8u * i);
  }
  return integers;
}

// Puts the numbers of the group and of the block that begin at k, if they do: k is a multiple of 16.
fn put_numbers(k: u32, n4: u32) {
  if (HAS_CODES && k % GROUP == 0u) {
    let groups = band.k / GROUP;
    let row = codes_row(num_k4());
    put_field(row, k / GROUP * PER_GROUP, 8u, n4, fields_at(band.scales, k / GROUP, groups, 8u, n4));
    if (HAS_MINIMUM) {
      put_field(row, k / GROUP * PER_GROUP + 1u, 8u, n4, fields_at(band.minimums, k / GROUP, groups, 8u, n4));
    }
  }
  if (k % BLOCK == 0u) {
    let blocks = band.k / BLOCK;
    let row = floats_row(num_k4());
    put_field(row, k / BLOCK * PER_GROUP, FLOAT_BITS, n4, fields_at(band.d, k / BLOCK, blocks, FLOAT_BITS, n4));
    if (HAS_MINIMUM) {
      put_field(row, k / BLOCK * PER_GROUP + 1u, FLOAT_BITS, n4, fields_at(band.m, k / BLOCK, blocks, FLOAT_BITS, n4));
    }
  }
}

// Puts the i-th number of four columns into the rows of elements from `row` on.
fn put_field(row: u32, i: u32, bits: u32, n4: u32, numbers: vec4<u32>) {
  let word = i * (bits / 8u);
  let at = 4u * ((row + word / 4u) * num_n4() + n4) + word % 4u;
  for (var column = 0u; column < 4u; column++) {
    packed[at + column * bits / 32u] |= numbers[column] << (column * bits % 32u);
  }
}

// Returns the i-th of a row's `count` numbers, for four columns; zero beyond the band.
fn fields_at(first: u32, i: u32, count: u32, bits: u32, n4: u32) -> vec4<u32> {
  var numbers = vec4(0u);
  for (var column = 0u; column < 4u; column++) {
    let row = 4u * n4 + column - band.first_row;
    if (i < count && row < band.num_rows) {
      let bit = (row * count + i) * bits;
      numbers[column] = (source[first + bit / 32u] >> (bit % 32u)) & (0xffffffffu >> (32u - bits));
    }
  }
  return numbers;
}

// Returns each column's value farthest from zero, as a half.
fn extremes(chunk: u32, n4: u32) -> vec4<u32> {
  var farthest = vec4(0.0);
  for (var k = 32u * chunk; k < 32u * chunk + 32u; k++) {
    let values = values_at(k, n4);
    farthest = select(farthest, values, abs(values) > abs(farthest));
  }
  return halves(farthest);
}

// value / scale, rounded to nearest even, plus CENTRE, clamped.
fn quotient(value: vec4<f32>, scale: vec4<f32>) -> vec4<u32> {
  let limit = f32(CENTRE);
  let divisor = select(scale, vec4(1.0), scale == vec4(0.0));
  var q = clamp(round(value / divisor), vec4(-limit), vec4(limit));
  // WGSL's division may be off by an ulp, and so q by one. q times scale has 8 + 11 bits, so this remainder is exact.
  let rest = value - q * divisor;
  let twice = 2.0 * abs(rest);
  let is_odd = (vec4<i32>(q) & vec4(1)) == vec4(1);
  let is_off = (twice > abs(divisor)) | ((twice == abs(divisor)) & is_odd);
  q += select(vec4(0.0), sign(rest) * sign(divisor), is_off);
  return vec4<u32>(clamp(q, vec4(-limit), vec4(limit - 1.0)) + limit);
}

fn values_at(k: u32, n4: u32) -> vec4<f32> {
  let n = 4u * n4;
  return vec4(value_at(k, n), value_at(k, n + 1u), value_at(k, n + 2u), value_at(k, n + 3u));
}

fn value_at(k: u32, n: u32) -> f32 {
  switch SOURCE {
    case F16: { return widened(vec2(bits_at(k, n))).x; }
    case BF16: { return bitcast<f32>(bits_at(k, n) << 16u); }
    default: { return bitcast<f32>(bits_at(k, n)); }
  }
}

fn halves_at(k: u32, n4: u32) -> vec4<u32> {
  if (SOURCE == LAYOUT) {
    let n = 4u * n4;
    return vec4(bits_at(k, n), bits_at(k, n + 1u), bits_at(k, n + 2u), bits_at(k, n + 3u));
  }
  let values = values_at(k, n4);
  if (LAYOUT == BF16) {
    return bitcast<vec4<u32>>(values) >> vec4(16u); // exact: what is kept so is a file's
  }
  return halves(values);
}

// Returns an element of the source; zero in the padding.
fn bits_at(k: u32, n: u32) -> u32 {
  let is_transposed = band.is_transposed != 0u;
  let row = select(k, n, is_transposed) - band.first_row;
  if (k >= band.k || n >= band.n || row >= band.num_rows) {
    return 0u;
  }
  let index = row * select(band.n, band.k, is_transposed) + select(n, k, is_transposed);
  if (SOURCE == F32) {
    return source[index];
  }
  return (source[index / 2u] >> (16u * (index & 1u))) & 0xffffu;
}
