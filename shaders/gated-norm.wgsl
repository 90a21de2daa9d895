// y[row, head, :] = y / sqrt(mean of squares + EPSILON) * norm * silu(z)      in place; z: a head's columns of x from Z_AT on
//
// After delta-rule.wgsl. One workgroup a (head, row). The order of additions follows from WIDTH alone.

override WIDTH: u32; // of a head
override Z_AT: u32;
override X_STRIDE: u32;
override Y_STRIDE: u32;
override EPSILON: f32;

const LANES = 32u;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> norm: array<f32>; // [WIDTH]
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> step: Step;

var<workgroup> squares: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn gated_norm(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = workgroup.y * Y_STRIDE + workgroup.x * WIDTH;
  let first_gate = workgroup.y * X_STRIDE + Z_AT + workgroup.x * WIDTH;
  let nothing = zero(step.num_rows);
  var sum = nothing;
  for (var i = lane; i < WIDTH; i += LANES) {
    sum = fma(y[first + i], y[first + i], sum);
  }
  squares[lane] = sum;
  workgroupBarrier();
  var total = nothing;
  for (var i = 0u; i < LANES; i++) {
    total = fma(squares[i], one(step.num_rows), total);
  }
  let scale = 1.0 / sqrt(total / f32(WIDTH) + EPSILON);
  for (var i = lane; i < WIDTH; i += LANES) {
    let z = x[first_gate + i];
    y[first + i] = y[first + i] * scale * norm[i] * (z * sigmoid(z, nothing));
  }
}
