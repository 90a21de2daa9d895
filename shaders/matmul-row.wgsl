// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: [rows, K], w: [K, N] packed, y: [rows, 4 Y4], N = 4 N4
//
// For a step of one row on software adapters, where workgroup memory and barriers are slow, and on GPUs whose own kernels
// failed: matmul-lane without its variables for more rows.

override LANES: u32;
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;

@compute @workgroup_size(LANES)
fn matmul_row(@builtin(global_invocation_id) id: vec3<u32>) {
  let n4 = id.x;
  let row = id.y;
  if (n4 >= N4 || row >= select(step.num_rows, step.num_samples, SAMPLES_ONLY)) {
    return;
  }
  let nothing = vec4(zero(step.num_rows));
  var total = nothing;
  for (var chunk = 0u; chunk < K4; chunk += 8u) {
    var sum = nothing;
    let scales = chunk_scales(chunk, n4);
    // Written out, this took llvmpipe 1.4 times as long.
    for (var i = 0u; i < MAX_ROUNDS && i < unknown(8u, step.num_rows); i++) {
      let k4 = chunk + i;
      let weights = weights_4x4(chunk, i, n4, scales);
      let input = x[row * K4 + k4];
      sum = fma(weights.k0, vec4(input.x), sum);
      sum = fma(weights.k1, vec4(input.y), sum);
      sum = fma(weights.k2, vec4(input.z), sum);
      sum = fma(weights.k3, vec4(input.w), sum);
    }
    total = fma(sum, vec4(one(step.num_rows)), total);
  }
  store(total, n4, row);
}
