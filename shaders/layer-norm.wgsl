// y[i, :] = (x[r, :] - mean) / sqrt(variance + EPSILON) * gamma + beta      x, y: [rows, STRIDE] f32, WIDTH of them used
// r = i, or with SAMPLES_ONLY the row that sample i draws from: the final norm runs only where a token is sampled.
//
// One workgroup a row. Each lane sums every LANES-th value; every lane then adds the LANES partial sums in order, which
// costs one barrier where a tree would cost log2(LANES).

override LANES: u32;
override WIDTH: u32;
override STRIDE: u32;
override EPSILON: f32;
override SAMPLES_ONLY: bool;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> gamma: array<f32>;
@group(0) @binding(2) var<storage, read> beta: array<f32>;
@group(0) @binding(3) var<storage, read> samples: array<Sample>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

var<workgroup> sums: array<f32, LANES>;
var<workgroup> squares: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn layer_norm(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  var row = group.x;
  if (SAMPLES_ONLY) {
    row = samples[group.x].row;
  }
  let base = row * STRIDE;

  var sum = 0.0;
  for (var i = lane; i < WIDTH; i += LANES) {
    sum += x[base + i];
  }
  sums[lane] = sum;
  workgroupBarrier();
  var mean = 0.0;
  for (var i = 0u; i < LANES; i++) {
    mean += sums[i];
  }
  mean /= f32(WIDTH);

  var square = 0.0;
  for (var i = lane; i < WIDTH; i += LANES) {
    let d = x[base + i] - mean;
    square = fma(d, d, square);
  }
  squares[lane] = square;
  workgroupBarrier();
  var variance = 0.0;
  for (var i = 0u; i < LANES; i++) {
    variance += squares[i];
  }
  let scale = 1.0 / sqrt(variance / f32(WIDTH) + EPSILON);

  // gamma and beta are padded with zeros, and so the padding of y is zero again.
  for (var i = lane; i < STRIDE; i += LANES) {
    y[group.x * STRIDE + i] = (x[base + i] - mean) * scale * gamma[i] + beta[i];
  }
}
