// y[row, i] = c[i] sum over t < TAPS of weights[t, i] (b x)[position - TAPS + 1 + t, i]      x: [b | c | x] of each row
//
// A sequence's rows of this step are neighbours in x. Those before them are products in `kept`: see keep-conv-rows.wgsl. Before
// the beginning there are none. One lane a channel; the order of additions follows from TAPS alone.

override LANES: u32;
override TAPS: u32;
override Y_STRIDE: u32;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weights: array<f32>; // [TAPS, Y_STRIDE]
@group(0) @binding(2) var<storage, read> kept: array<f32>;
@group(0) @binding(3) var<storage, read> rows: array<Row>;
@group(0) @binding(4) var<storage, read> block_tables: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> step: Step;

@compute @workgroup_size(LANES)
fn short_conv(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = workgroup.x * LANES + lane;
  if (i >= WIDTH) {
    return;
  }
  let row = rows[workgroup.y];
  var sum = zero(step.num_rows);
  for (var t = 0u; t < TAPS; t++) {
    let back = TAPS - 1u - t;
    if (back > row.position) {
      continue;
    }
    let position = row.position - back;
    var value = 0.0;
    if (position >= row.start) {
      value = gated(workgroup.y - back, i);
    } else {
      value = kept[kept_index(row.slot, position) + i];
    }
    sum = fma(weights[t * Y_STRIDE + i], value, sum);
  }
  y[workgroup.y * Y_STRIDE + i] = x[workgroup.y * X_STRIDE + WIDTH + i] * sum;
}
