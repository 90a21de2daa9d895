// Normalisation in a fixed order of additions, for layer-norm.wgsl and for products that normalise their input. A row has
// 32 partial sums, each of every 32nd value, ascending. They are added in ascending order.
//
//   part       0        1        ..  7            a part is a vec4: four of the 32 sums
//   of values  0 .. 3   4 .. 7   ..  28 .. 31     and those 32, 64, .. later

override RMS: bool; // RMSNorm, x / sqrt(mean of squares), instead of LayerNorm
override WIDTH: u32; // of a row, without padding
override EPSILON: f32;

const NUM_PARTS = 8u;

// Returns a part of the sum, or of the sum of the squares of the distances to the mean.
fn part_of_row(row: u32, part: u32, mean: f32, of_squares: bool) -> vec4<f32> {
  var sum = vec4(zero(samples[0].row));
  for (var i = 0u; i < K4 / NUM_PARTS; i++) {
    let k4 = NUM_PARTS * i + part;
    let values = x[row * K4 + k4];
    let is_value = vec4(4u * k4) + vec4(0u, 1u, 2u, 3u) < vec4(WIDTH);
    let d = select(vec4(0.0), values - mean, is_value);
    sum = fma(select(values, d, of_squares), select(vec4(one(samples[0].row)), d, of_squares), sum);
  }
  return sum;
}

fn add_part(total: f32, part: vec4<f32>) -> f32 {
  let factor = one(samples[0].row);
  return fma(part.w, factor, fma(part.z, factor, fma(part.y, factor, fma(part.x, factor, total))));
}

// 1 / sqrt(variance + epsilon), or 1 / sqrt(mean of squares + epsilon).
fn scale_of(total_of_squares: f32) -> f32 {
  return 1.0 / sqrt(total_of_squares / f32(WIDTH) + EPSILON);
}

// norm: gamma, then beta, both padded with zeros, so that the result's padding is zero.
fn normalise(values: vec4<f32>, k4: u32, mean: f32, scale: f32) -> vec4<f32> {
  return fma((values - mean) * scale, norm[k4], norm[K4 + k4]);
}
