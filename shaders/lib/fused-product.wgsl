// What the products of the fused style share: their constants, their buffers, and how a workgroup normalises rows itself
// before it multiplies them. Each row has its own lanes. The kernel provides `put_values` and `values_at`, a place in workgroup
// memory for NUM_PARTS values of each of its rows.

override K4: u32; // K, padded to a multiple of 32, over 4
override N4: u32;
override EPILOGUE: u32;
override Y4: u32; // stride of y over 4: more than w's columns where w has only part of them, half as much after a gate
override SAMPLES_ONLY: bool; // one row per sample instead of per token; with NORM, x still has one per token
override NORM: bool;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> norm: array<vec4<f32>>; // gamma, beta
@group(0) @binding(4) var<storage, read> samples: array<Sample>;
@group(0) @binding(5) var<storage, read_write> y: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> logit_parts: array<LogitPart>; // only for the head: [samples, num_logit_parts()]
@group(0) @binding(7) var<uniform> step: Step;

// The row whose values this lane stages: x[row], normalised by its mean and scale.
struct Normed {
  owner: u32, // of the workgroup's rows; a lane that has none stages nothing
  lane: u32,
  row: u32,
  mean: f32,
  scale: f32,
}

// Every thread of the workgroup must call it.
fn normed_row(thread: u32, row_lanes: u32, rows: u32, first_row: u32) -> Normed {
  var normed = Normed(thread / row_lanes, thread % row_lanes, 0u, 0.0, 0.0);
  let has_row = normed.owner < rows;
  if (has_row) {
    normed.row = first_row + normed.owner;
    if (SAMPLES_ONLY) {
      normed.row = samples[normed.row].row;
    }
    for (var part = normed.lane; part < NUM_PARTS; part += row_lanes) {
      put_values(normed.owner * NUM_PARTS + part, sum_part(normed.row, part));
    }
  }
  workgroupBarrier();
  normed.mean = mean_of(total_of_parts(min(normed.owner, rows - 1u)));
  workgroupBarrier();
  if (has_row) {
    for (var part = normed.lane; part < NUM_PARTS; part += row_lanes) {
      put_values(normed.owner * NUM_PARTS + part, square_part(normed.row, part, normed.mean));
    }
  }
  workgroupBarrier();
  normed.scale = scale_of(total_of_parts(min(normed.owner, rows - 1u)));
  workgroupBarrier();
  return normed;
}

fn total_of_parts(owner: u32) -> f32 {
  var total = 0.0;
  for (var i = 0u; i < NUM_PARTS; i++) {
    total = add_part(total, values_at(owner * NUM_PARTS + i));
  }
  return total;
}
