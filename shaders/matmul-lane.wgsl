// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: [rows, K], w: [K, N] packed, y: [rows, 4 Y4], N = 4 N4
//
// For few rows, on adapters where workgroup memory and barriers are dear (software ones). One lane computes four columns
// of ROWS rows, all of K: each weight is read once for all ROWS rows, and nothing is shared between lanes.

const MAX_ROWS = 16u;

override LANES: u32;
override ROWS: u32; // at most MAX_ROWS
override K4: u32; // K, padded to a multiple of 32, over 4
override N4: u32;
override Y4: u32; // the stride of y over 4: N4, or more where w is a part of the columns
override SAMPLES_ONLY: bool; // one row a sample, not one a token

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(4) var<uniform> step: Step;

@compute @workgroup_size(LANES)
fn matmul_lane(@builtin(global_invocation_id) id: vec3<u32>) {
  let n4 = id.x;
  let first_row = id.y * ROWS;
  if (n4 >= N4) {
    return;
  }
  var total: array<vec4<f32>, MAX_ROWS>;
  var sum: array<vec4<f32>, MAX_ROWS>;
  for (var chunk = 0u; chunk < K4; chunk += 8u) {
    for (var r = 0u; r < ROWS; r++) {
      sum[r] = vec4(0.0);
    }
    for (var k4 = chunk; k4 < chunk + 8u; k4++) {
      let weights = weights_4x4(k4, n4);
      for (var r = 0u; r < ROWS; r++) {
        let input = x[(first_row + r) * K4 + k4];
        var s = sum[r];
        s = fma(weights.k0, vec4(input.x), s);
        s = fma(weights.k1, vec4(input.y), s);
        s = fma(weights.k2, vec4(input.z), s);
        s = fma(weights.k3, vec4(input.w), s);
        sum[r] = s;
      }
    }
    let scale = chunk_scale(chunk, n4);
    for (var r = 0u; r < ROWS; r++) {
      total[r] = fma(sum[r], scale, total[r]);
    }
  }
  let num_rows = select(step.num_rows, step.num_samples, SAMPLES_ONLY);
  for (var r = 0u; r < ROWS && first_row + r < num_rows; r++) {
    store(total[r], n4, (first_row + r) * Y4 + n4);
  }
}
