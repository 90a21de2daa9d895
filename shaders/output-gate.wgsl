// y[row, i] *= sigmoid(gates[row, FIRST + i])      in place

override LANES: u32;
override WIDTH: u32;
override FIRST: u32;
override GATES_STRIDE: u32;
override Y_STRIDE: u32;

@group(0) @binding(0) var<storage, read> gates: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> step: Step;

@compute @workgroup_size(LANES)
fn output_gate(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = workgroup.x * LANES + lane;
  if (i < WIDTH) {
    let gate = gates[workgroup.y * GATES_STRIDE + FIRST + i];
    y[workgroup.y * Y_STRIDE + i] *= sigmoid(gate, zero(step.num_rows));
  }
}
