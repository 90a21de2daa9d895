// y[i, :] = (x[r, :] - mean) / sqrt(variance + EPSILON) * gamma + beta      x, y: [rows, K] f32, K = 4 K4
// With RMS the mean is left out: x[r, :] / sqrt(mean of squares + EPSILON) * gamma + beta.
// r is the row of sample i: the final norm needs only the sampled rows. Elsewhere each row has a sample.
//
// With ADD_TO_OUTPUT y[i, :] is what is added to.
//
// A dispatch of its own, used if no product can normalise its input itself. One workgroup per row, a lane per part of the sums;
// every lane adds the parts, which costs one barrier where a tree would cost several.

override K4: u32; // K, padded to a multiple of 32, over 4
override ADD_TO_OUTPUT: bool;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> norm: array<vec4<f32>>; // gamma, beta
@group(0) @binding(2) var<storage, read> samples: array<Sample>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

// Parts of the sum, then of the squares: each word takes time to compile on software adapters.
var<workgroup> parts: array<vec4<f32>, NUM_PARTS>;

@compute @workgroup_size(NUM_PARTS)
fn layer_norm(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = samples[group.x].row;
  var total = zero(row);
  var mean = 0.0;
  if (!RMS) {
    parts[lane] = part_of_row(row, lane, 0.0, false);
    workgroupBarrier();
    for (var i = 0u; i < NUM_PARTS; i++) {
      total = add_part(total, parts[i]);
    }
    mean = total / f32(WIDTH);
    workgroupBarrier(); // every lane has read them
  }

  parts[lane] = part_of_row(row, lane, mean, true);
  workgroupBarrier();
  total = zero(row);
  for (var i = 0u; i < NUM_PARTS; i++) {
    total = add_part(total, parts[i]);
  }
  let scale = scale_of(total);

  for (var i = 0u; i < K4 / NUM_PARTS; i++) {
    let k4 = NUM_PARTS * i + lane;
    let normalised = normalise(x[row * K4 + k4], k4, mean, scale);
    if (ADD_TO_OUTPUT) {
      y[group.x * K4 + k4] = fma(normalised, vec4(one(row)), y[group.x * K4 + k4]);
    } else {
      y[group.x * K4 + k4] = normalised;
    }
  }
}
