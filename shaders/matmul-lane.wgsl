// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: [rows, K], w: [K, N] packed, y: [rows, 4 Y4], N = 4 N4
//
// For several rows on software adapters, where workgroup memory and barriers are slow. One lane computes four columns of
// four rows over all of K, so each weight is read once for four rows and lanes share nothing. The sums are variables,
// since such adapters would keep an array in memory.

override LANES: u32;
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;

@compute @workgroup_size(LANES)
fn matmul_lane(@builtin(global_invocation_id) id: vec3<u32>) {
  let n4 = id.x;
  let row = 4u * id.y;
  if (n4 >= N4) {
    return;
  }
  let nothing = vec4(zero(step.num_rows));
  var total0 = nothing;
  var total1 = nothing;
  var total2 = nothing;
  var total3 = nothing;
  for (var chunk = 0u; chunk < K4; chunk += 8u) {
    var sum0 = nothing;
    var sum1 = nothing;
    var sum2 = nothing;
    var sum3 = nothing;
    let scales = chunk_scales(chunk, n4);
    for (var i = 0u; i < 8u; i++) {
      let k4 = chunk + i;
      let weights = weights_4x4(chunk, i, n4, scales);
      sum0 = accumulate(weights, x[row * K4 + k4], sum0);
      sum1 = accumulate(weights, x[(row + 1u) * K4 + k4], sum1);
      sum2 = accumulate(weights, x[(row + 2u) * K4 + k4], sum2);
      sum3 = accumulate(weights, x[(row + 3u) * K4 + k4], sum3);
    }
    let factor = vec4(one(step.num_rows));
    total0 = fma(sum0, factor, total0);
    total1 = fma(sum1, factor, total1);
    total2 = fma(sum2, factor, total2);
    total3 = fma(sum3, factor, total3);
  }
  let num_rows = select(step.num_rows, step.num_samples, SAMPLES_ONLY);
  // The store is compiled once, not once per row.
  for (var i = 0u; i < 4u && row + i < num_rows; i++) {
    store(total0, n4, row + i);
    total0 = total1;
    total1 = total2;
    total2 = total3;
  }
}

fn accumulate(weights: Weights4x4, input: vec4<f32>, sum: vec4<f32>) -> vec4<f32> {
  let sum0 = fma(weights.k0, vec4(input.x), sum);
  let sum1 = fma(weights.k1, vec4(input.y), sum0);
  let sum2 = fma(weights.k2, vec4(input.z), sum1);
  return fma(weights.k3, vec4(input.w), sum2);
}
