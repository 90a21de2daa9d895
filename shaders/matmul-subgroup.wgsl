enable subgroups;

// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: [rows, K], w: [K, N] packed, y: [rows, 4 Y4], N = 4 N4
//
// For more than four rows on software adapters with subgroups of at least four lanes. There every load is slow, since lanes
// load one after the other. As in matmul-lane, one lane computes four columns, here of eight rows. But each lane loads only
// one of four values of x and broadcasts it:
//
//            lane 0   lane 1   lane 2   lane 3   lane 4 = lane 0, ...
//   row r    x[k]     x[k+1]   x[k+2]   x[k+3]   one load, four broadcasts; matmul-lane loads 4 values in every lane
//
// The sums are variables, since such adapters would keep an array in memory.

override LANES: u32;
@group(0) @binding(0) var<storage, read> x: array<f32>;

@compute @workgroup_size(LANES)
fn matmul_subgroup(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  // No lane may return early, since each broadcasts values of x.
  let n4 = min(id.x, N4 - 1u);
  let row = 8u * workgroup.y;
  let mine = 4u * K4 * row + (lane & 3u);
  let nothing = vec4(zero(step.num_rows));
  var total0 = nothing;
  var total1 = nothing;
  var total2 = nothing;
  var total3 = nothing;
  var total4 = nothing;
  var total5 = nothing;
  var total6 = nothing;
  var total7 = nothing;
  for (var chunk = 0u; chunk < K4; chunk += 8u) {
    var sum0 = nothing;
    var sum1 = nothing;
    var sum2 = nothing;
    var sum3 = nothing;
    var sum4 = nothing;
    var sum5 = nothing;
    var sum6 = nothing;
    var sum7 = nothing;
    let scales = chunk_scales(chunk, n4);
    for (var i = 0u; i < 8u; i++) {
      let k4 = chunk + i;
      let weights = weights_4x4(chunk, i, n4, scales);
      let k = mine + 4u * k4;
      sum0 = accumulate(weights, x[k], sum0);
      sum1 = accumulate(weights, x[k + 4u * K4], sum1);
      sum2 = accumulate(weights, x[k + 8u * K4], sum2);
      sum3 = accumulate(weights, x[k + 12u * K4], sum3);
      sum4 = accumulate(weights, x[k + 16u * K4], sum4);
      sum5 = accumulate(weights, x[k + 20u * K4], sum5);
      sum6 = accumulate(weights, x[k + 24u * K4], sum6);
      sum7 = accumulate(weights, x[k + 28u * K4], sum7);
    }
    let factor = vec4(one(step.num_rows));
    total0 = fma(sum0, factor, total0);
    total1 = fma(sum1, factor, total1);
    total2 = fma(sum2, factor, total2);
    total3 = fma(sum3, factor, total3);
    total4 = fma(sum4, factor, total4);
    total5 = fma(sum5, factor, total5);
    total6 = fma(sum6, factor, total6);
    total7 = fma(sum7, factor, total7);
  }
  if (id.x >= N4) {
    return;
  }
  let num_rows = select(step.num_rows, step.num_samples, SAMPLES_ONLY);
  // The store is compiled once, not once per row.
  for (var i = 0u; i < 8u && row + i < num_rows; i++) {
    store(total0, n4, row + i);
    total0 = total1;
    total1 = total2;
    total2 = total3;
    total3 = total4;
    total4 = total5;
    total5 = total6;
    total6 = total7;
  }
}

fn accumulate(weights: Weights4x4, own: f32, sum: vec4<f32>) -> vec4<f32> {
  let sum0 = fma(weights.k0, vec4(subgroupBroadcast(own, 0u)), sum);
  let sum1 = fma(weights.k1, vec4(subgroupBroadcast(own, 1u)), sum0);
  let sum2 = fma(weights.k2, vec4(subgroupBroadcast(own, 2u)), sum1);
  return fma(weights.k3, vec4(subgroupBroadcast(own, 3u)), sum2);
}
