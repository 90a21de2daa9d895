// What the products of the fused style share: their constants, their buffers, and how a workgroup normalises rows itself
// before it multiplies them. The kernel provides TILE_ROWS, its rows, NORM_LANES, the lanes that each of them has to itself,
// and `put_values` and `values_at`, a place in workgroup memory for NUM_PARTS values of each of the rows.

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
fn normed_row(thread: u32, first_row: u32) -> Normed {
  var normed = Normed(thread / NORM_LANES, thread % NORM_LANES, 0u, 0.0, 0.0);
  if (normed.owner < TILE_ROWS) {
    normed.row = first_row + normed.owner;
    if (SAMPLES_ONLY) {
      normed.row = samples[normed.row].row;
    }
  }
  if (!RMS) {
    put_parts(normed, false);
    workgroupBarrier();
    normed.mean = total_of_parts(min(normed.owner, TILE_ROWS - 1u)) / f32(WIDTH);
    workgroupBarrier();
  }
  put_parts(normed, true);
  workgroupBarrier();
  normed.scale = scale_of(total_of_parts(min(normed.owner, TILE_ROWS - 1u)));
  workgroupBarrier();
  return normed;
}

fn put_parts(normed: Normed, are_squares: bool) {
  for (var part = normed.lane; part < NUM_PARTS && normed.owner < TILE_ROWS; part += NORM_LANES) {
    put_values(normed.owner * NUM_PARTS + part, part_of_row(normed.row, part, normed.mean, are_squares));
  }
}

fn total_of_parts(owner: u32) -> f32 {
  var total = zero(samples[0].row);
  for (var i = 0u; i < NUM_PARTS; i++) {
    total = add_part(total, values_at(owner * NUM_PARTS + i));
  }
  return total;
}
